import { setTimeout as sleep } from 'node:timers/promises'
import { createTributary, TributaryError } from 'tributary-client'
import { copyBeyond, type Run } from './copy.ts'
import { readChecksums } from './database/compare.ts'
import type { Filled, Reader, Target } from './database/target.ts'
import { assignFolder, type DirectoryRun, writeAll, writeDays } from './directory.ts'
import { openTarget as openDuckdb } from './duckdb/target.ts'
import { openTarget as openPostgres } from './postgres/target.ts'
import { openProgress } from './progress.ts'
import { type Result, resultLines } from './result.ts'
import type { Source } from './source/checksums.ts'
import { errorLine, SyncError, TemporaryError } from './source/errors.ts'
import { fetchByHttp } from './source/fetch.ts'
import { isAccountId, received } from './source/received.ts'
import { changing, metadata } from './source/resources.ts'
import { type Verified, verified, verifyCopy } from './verify.ts'

export interface RunOptions {
  url: string
  resources: string[]
  from?: string
  every?: number
  verify?: true
  schema: string
  json?: true
  /** Where the result of each run is printed. */
  print: NodeJS.WritableStream
}

/** Where the rows are copied to. */
export function kindOf(target: string): 'postgres' | 'duckdb' | 'folder' {
  if (/^postgres(ql)?:\/\//.test(target)) return 'postgres'
  return target.endsWith('.duckdb') ? 'duckdb' : 'folder'
}

/**
 * Copies once, or with `--every` until the signal aborts.
 * @param target `postgres://…`, a file of DuckDB, or a folder
 */
export async function synchronize(
  target: string,
  apiKey: string,
  options: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const source: Source = {
    client: createTributary({ baseUrl: options.url, apiKey, fetch: fetchByHttp }),
    from: options.from,
    signal,
  }
  const kind = kindOf(target)
  if (kind === 'folder') {
    // The rows of the other resources are in one file each, which is not read.
    await repeat(options, changing, signal, (onRows) =>
      runDirectory({ ...source, folder: target, isVerified: options.verify === true, onRows }, options),
    )
    return
  }
  const open = () => (kind === 'postgres' ? openPostgres : openDuckdb)(target, options.schema)
  // An error of the first opening ends the program.
  let opened: Target | undefined = await open()
  await repeat(options, [...changing, ...metadata], signal, async (onRows) => {
    const copy = opened ?? (await open())
    opened = undefined
    try {
      return await runDatabase({ ...source, target: copy, onRows }, options)
    } finally {
      // Between two runs, other programs can read a file of DuckDB.
      await copy.close()
    }
  })
}

/**
 * Runs once, or with `--every` until the signal aborts; then temporary failures end one run only.
 * @param counted resources for which the result has a number of rows
 */
async function repeat(
  options: RunOptions,
  counted: readonly { name: string }[],
  signal: AbortSignal,
  runOnce: (onRows: Reader['onRows']) => Promise<Omit<Result, 'rows'>>,
): Promise<void> {
  for (;;) {
    const progress = openProgress()
    const rows: Record<string, number> = Object.fromEntries(counted.filter(isIn(options)).map(({ name }) => [name, 0]))
    try {
      const result = await runOnce((resource, count, fraction) => {
        rows[resource] = (rows[resource] ?? 0) + count
        progress.show(resource, rows[resource], fraction)
      })
      progress.stop()
      printResult({ rows, ...result }, options)
    } catch (error) {
      progress.stop()
      if (options.every === undefined || signal.aborted || !isTemporary(error)) throw error
      process.stderr.write(`error: ${errorLine(error)}; the next run continues here.\n`)
    }
    if (options.every === undefined) return
    await sleep(options.every, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Checksums are read first, so that the copy is beyond their `asOf` when it is compared. */
async function runDatabase(run: Run, options: RunOptions): Promise<Omit<Result, 'rows'>> {
  const selected = changing.filter(isIn(options))
  await run.target.assign(await accountOf(run), selected)
  const proofs: Record<string, Verified> = {}
  const filled: Record<string, Filled> = {}
  for (const resource of metadata.filter(isIn(options))) {
    const added = await run.target.copyAll(run, resource)
    if (added) filled[resource.name] = added
  }
  for (const resource of selected) {
    const checksums = options.verify && (await readChecksums(run, run.target, resource))
    const added = await copyBeyond(run, resource, checksums?.asOf)
    if (added) filled[resource.name] = added
    if (checksums) proofs[resource.name] = await verifyCopy(run, resource, checksums)
  }
  return { filled, ...(options.verify && { verified: proofs }) }
}

async function runDirectory(run: DirectoryRun, options: RunOptions): Promise<Omit<Result, 'rows'>> {
  await assignFolder(run.folder, await accountOf(run))
  const written: Record<string, string[]> = {}
  for (const resource of metadata.filter(isIn(options))) await writeAll(run, resource)
  const filled: Record<string, Filled> = {}
  const proofs: Record<string, Verified> = {}
  for (const resource of changing.filter(isIn(options))) {
    const { written: days, filled: added, checksums } = await writeDays(run, resource)
    written[resource.name] = days
    if (added) filled[resource.name] = added
    if (!checksums) continue
    const proof = verified(resource, checksums, days)
    proofs[resource.name] = { ...proof, compared: [...proof.compared, 'SHA-256 of each file'] }
  }
  return { written, filled, ...(options.verify && { verified: proofs }) }
}

/** @returns id of the account of the key */
async function accountOf({ client, signal }: Source): Promise<string> {
  return received('/key', 'accountId', (await client.get('/key', { signal })).accountId, isAccountId)
}

function isIn({ resources }: RunOptions): (resource: { name: string }) => boolean {
  return ({ name }) => resources.includes(name)
}

function printResult(result: Result, { json, print }: RunOptions): void {
  const lines = json ? [JSON.stringify(result)] : resultLines(result)
  print.write(`${lines.join('\n')}\n`)
}

/** Whether a later run may succeed: the network, a server that is starting or busy, or a proxy that responds in its place. */
function isTemporary(error: unknown): boolean {
  if (error instanceof TributaryError) return error.status >= 500 || error.status === 429 || error.status === 200
  return error instanceof TemporaryError || !(error instanceof SyncError)
}
