import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTributary, TributaryError } from 'tributary-client'
import { openUpdate } from './database/update.ts'
import { openBucket } from './files/bucket.ts'
import { openFilesCopy } from './files/copy.ts'
import { openFolder } from './files/folder.ts'
import { kindOf, placeOf, withoutSecrets } from './place.ts'
import { openProgress } from './progress.ts'
import { type Result, resultLines } from './result.ts'
import type { Copy, Reader } from './source/copy.ts'
import { errorLine, printable, SyncError, TemporaryError } from './source/errors.ts'
import { fetchByHttp } from './source/fetch.ts'
import { isAccountId, received } from './source/received.ts'
import { changing, events, metadata } from './source/resources.ts'

export interface RunOptions {
  url: string
  endpoint?: string
  resources: string[]
  from?: string
  every?: number
  verify?: true
  schema: string
  heartbeat?: string
  json?: true
  /** Where the result of each run is printed. */
  print: NodeJS.WritableStream
}

/**
 * Copies one account after another, each into a place of its own: once, or with `--every` until the signal aborts.
 * @param apiKeys a key of each account
 * @throws SyncError at the end of a round in which an account failed, without `--every`; the reason of the signal
 */
export async function synchronizeAll(target: string, apiKeys: string[], options: RunOptions, signal: AbortSignal) {
  const { every, heartbeat, ...once } = options
  for (;;) {
    let failed = 0
    for (const [index, apiKey] of apiKeys.entries()) {
      try {
        const accountId = await accountOf({ client: clientOf(options, apiKey), signal })
        const place = placeOf(target, options.schema, accountId)
        await synchronize(place.target, apiKey, { ...once, schema: place.schema }, signal)
      } catch (error) {
        signal.throwIfAborted()
        failed += 1
        process.stderr.write(`error: key ${index + 1}: ${errorLine(error)}; the next run continues here.\n`)
      }
    }
    if (failed === 0) await beat(heartbeat)
    if (every === undefined && failed > 0) throw new SyncError(`${failed} of ${apiKeys.length} accounts failed.`)
    if (every === undefined) return
    await sleep(every, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * Runs once, or with `--every` until the signal aborts; then temporary failures end one run only.
 * @param target `postgres://…`, `s3://…`, a file of DuckDB, or a folder
 */
export async function synchronize(target: string, apiKey: string, options: RunOptions, signal: AbortSignal) {
  const client = clientOf(options, apiKey)
  const kind = kindOf(target)
  // Files of metadata are copied as a whole, so their rows are not counted.
  const counted = kind === 'folder' || kind === 's3' ? changing : [...changing, ...metadata]
  let wasOpened = false
  for (;;) {
    const [progress, startedMs] = [openProgress(), performance.now()]
    const rows = Object.fromEntries(counted.filter(isIn(options)).map(({ name }) => [name, 0]))
    const onRows: Reader['onRows'] = (resource, count, fraction) => {
      rows[resource] = (rows[resource] ?? 0) + count
      progress.show(resource, rows[resource], fraction)
    }
    try {
      const copy = await openCopy(target, options, signal)
      wasOpened = true
      const run = runOnce(copy, { client, from: options.from, signal, onRows }, options)
      const result = await run.finally(async () => {
        progress.stop()
        // Between two runs, other programs can read a file of DuckDB, and write to a bucket.
        await copy.close()
      })
      const durationMs = Math.round(performance.now() - startedMs)
      printResult({ ...result, target: withoutSecrets(target), durationMs, rows }, options)
      await beat(options.heartbeat)
    } catch (error) {
      // An error of the first opening ends the program.
      if (!wasOpened || options.every === undefined || signal.aborted || !isTemporary(error)) throw error
      process.stderr.write(`error: ${errorLine(error)}; the next run continues here.\n`)
    }
    if (options.every === undefined) return
    await sleep(options.every, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function openCopy(target: string, options: RunOptions, signal: AbortSignal): Promise<Copy> {
  const { schema, endpoint } = options
  const kind = kindOf(target)
  if (kind === 'folder') return openFilesCopy(openFolder(target))
  if (kind === 's3') return openFilesCopy(await openBucket(target, endpoint, signal))
  // Loaded by few runs: the driver takes a twentieth of the time of a run without changes.
  const database =
    kind === 'postgres'
      ? await (await import('./postgres/target.ts')).openTarget(target, schema)
      : await (await import('./duckdb/target.ts')).openTarget(target, schema)
  return { ...database, update: openUpdate(database, isIn(options)(events)) }
}

async function runOnce(copy: Copy, reader: Reader, options: RunOptions) {
  const selected = changing.filter(isIn(options))
  const account = await accountOf(reader)
  await copy.assign(account, selected)
  const filled: Result['filled'] = {}
  const proofs: Result['verified'] = {}
  const written: Result['written'] = {}
  const asOfs: string[] = []
  for (const resource of metadata.filter(isIn(options))) {
    const added = await copy.copyAll(reader, resource)
    if (added) filled[resource.name] = added
  }
  for (const resource of selected) {
    const updated = await copy.update(reader, resource, options.verify === true)
    asOfs.push(updated.asOf)
    if (updated.filled) filled[resource.name] = updated.filled
    if (updated.verified) proofs[resource.name] = updated.verified
    if (updated.written) written[resource.name] = updated.written
  }
  return { account, asOf: asOfs.sort()[0] ?? null, written, filled, ...(options.verify && { verified: proofs }) }
}

/** @returns id of the account of the key @throws SyncError for a key that sees a part of it: a copy has whole accounts */
async function accountOf({ client, signal }: Pick<Reader, 'client' | 'signal'>): Promise<string> {
  const { accountId, name, filters } = await client.get('/key', { signal })
  if (filters)
    throw new SyncError(`The key ${name} sees a part of its account; a copy needs a key that sees all of it.`)
  return received('/key', 'accountId', accountId, isAccountId)
}

function clientOf({ url }: RunOptions, apiKey: string) {
  return createTributary({ baseUrl: url, apiKey, fetch: fetchByHttp })
}

/** Writes the time to a file, which says that the last run was good. */
async function beat(file: string | undefined): Promise<void> {
  if (file !== undefined) await writeFile(file, `${new Date().toISOString()}\n`)
}

function isIn({ resources }: RunOptions): (resource: { name: string }) => boolean {
  return ({ name }) => resources.includes(name)
}

function printResult(result: Result, { json, print }: RunOptions): void {
  const lines = json ? [JSON.stringify(result)] : resultLines(result)
  print.write(`${lines.map(printable).join('\n')}\n`)
}

/** Whether a later run may succeed: the network, a server that is starting or busy, or a proxy that responds in its place. */
function isTemporary(error: unknown): boolean {
  if (error instanceof TributaryError) return error.status >= 500 || error.status === 429 || error.status === 200
  return error instanceof TemporaryError || !(error instanceof SyncError)
}
