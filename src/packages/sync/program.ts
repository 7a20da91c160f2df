import { setTimeout as sleep } from 'node:timers/promises'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { createTributary, TributaryError } from 'tributary-client'
import { copyAll, copyBeyond, type Filled, type Run } from './copy.ts'
import { assignFolder, type DirectoryRun, writeAll, writeDays } from './directory.ts'
import { openTarget } from './postgres/target.ts'
import { openProgress } from './progress.ts'
import type { Source } from './source/checksums.ts'
import { SyncError, TemporaryError } from './source/errors.ts'
import { fetchByHttp } from './source/fetch.ts'
import { isAccountId, isDay, received } from './source/received.ts'
import { changing, metadata } from './source/resources.ts'
import { readChecksums, type Verified, verified, verifyCopy } from './verify.ts'

const resourceNames = [...changing, ...metadata].map(({ name }) => name)

interface Options {
  url: string
  resources: string[]
  from?: string
  every?: number
  verify?: true
  schema: string
  json?: true
}

/** What a run has done. */
interface Result {
  /** Rows that were stored, by resource. */
  rows: Record<string, number>
  verified?: Record<string, Verified>
  /** Days for which a file was written or removed. */
  written?: Record<string, string[]>
  /** New columns, which all rows have now. */
  filled: Record<string, Filled>
}

/**
 * Runs the command.
 * @param environment has the API key in TRIBUTARY_KEY
 * @returns the exit code: 0, 1 for a failure, 2 for wrong arguments
 */
export async function run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const program = new Command('tributary-sync')
    .description(
      'Keeps a copy of the rows of a Tributary account in PostgreSQL, or as Parquet files. The API key is in TRIBUTARY_KEY.',
    )
    .argument('<target>', 'postgres://user:password@host:5432/database, or a folder for Parquet files', parseTarget)
    .requiredOption('--url <url>', 'address of the API, such as https://api.example.com', parseUrl)
    .addOption(
      new Option('--resources <list>', `resources, separated by commas: ${resourceNames.join(', ')}`)
        .argParser(parseResources)
        .default(resourceNames, 'all'),
    )
    .option(
      '--from <day>',
      'first UTC day of clicks, conversions and events, such as 2026-01-01; default: all',
      parseDay,
    )
    .option('--every <time>', 'repeat until interrupted, such as 30s, 5m or 1h', parseInterval)
    .option('--verify', 'compare every day with the checksums of the API and replace days that differ')
    .option('--schema <name>', 'schema of the tables', parseSchema, 'tributary')
    .option('--json', 'print the result of each run as one JSON object')
    .helpOption('-h, --help', 'show help')
    .addHelpText(
      'after',
      `
Exit codes:
  0 success, 1 failure (one line on standard error says why), 2 wrong arguments

Example:
  TRIBUTARY_KEY=trb_live_… tributary-sync postgres://localhost/warehouse --url https://api.example.com --every 5m`,
    )
    .exitOverride()
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new SyncError('interrupted; the next run continues here.'))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    await program.parseAsync(args, { from: 'user' })
    const key = environment.TRIBUTARY_KEY ?? ''
    if (!key) program.error('error: set TRIBUTARY_KEY to an API key that reads the resources.')
    const [target = ''] = program.processedArgs as string[]
    await synchronize(target, key, program.opts<Options>(), interrupted.signal)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`error: ${errorLine(error)}\n`)
    return 1
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

async function synchronize(target: string, apiKey: string, options: Options, signal: AbortSignal): Promise<void> {
  const source: Source = {
    client: createTributary({ baseUrl: options.url, apiKey, fetch: fetchByHttp }),
    from: options.from,
    signal,
  }
  if (!isPostgres(target)) {
    // The rows of the other resources are in one file each, which is not read.
    await repeat(options, changing, signal, (onRows) =>
      runDirectory({ ...source, folder: target, isVerified: options.verify === true, onRows }, options),
    )
    return
  }
  const copy = await openTarget(target, options.schema)
  try {
    await repeat(options, [...changing, ...metadata], signal, (onRows) =>
      runPostgres({ ...source, target: copy, onRows }, options),
    )
  } finally {
    await copy.close()
  }
}

/**
 * Runs once, or with `--every` until the signal aborts; then temporary failures end one run only.
 * @param counted resources for which the result has a number of rows
 */
async function repeat(
  options: Options,
  counted: readonly { name: string }[],
  signal: AbortSignal,
  runOnce: (onRows: Run['onRows']) => Promise<Omit<Result, 'rows'>>,
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
async function runPostgres(run: Run, options: Options): Promise<Omit<Result, 'rows'>> {
  await run.target.assign(await accountOf(run))
  const proofs: Record<string, Verified> = {}
  const filled: Record<string, Filled> = {}
  for (const resource of metadata.filter(isIn(options))) {
    const added = await copyAll(run, resource)
    if (added) filled[resource.name] = added
  }
  for (const resource of changing.filter(isIn(options))) {
    const checksums = options.verify && (await readChecksums(run, resource))
    const added = await copyBeyond(run, resource, checksums?.asOf)
    if (added) filled[resource.name] = added
    if (checksums) proofs[resource.name] = await verifyCopy(run, resource, checksums)
  }
  return { filled, ...(options.verify && { verified: proofs }) }
}

async function runDirectory(run: DirectoryRun, options: Options): Promise<Omit<Result, 'rows'>> {
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

function isIn({ resources }: Options): (resource: { name: string }) => boolean {
  return ({ name }) => resources.includes(name)
}

function printResult(result: Result, { json }: Options): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return
  }
  for (const [name, days] of Object.entries(result.written ?? {})) {
    process.stdout.write(`Files written: ${name} of ${days.length} days.\n`)
  }
  const counts = Object.entries(result.rows).map(([name, rows]) => `${name} ${rows}`)
  process.stdout.write(`Rows stored: ${counts.join(', ')}.\n`)
  for (const [name, { columns, from }] of Object.entries(result.filled)) {
    const kept = from ? `; rows before ${from}, which the account has removed, lack them` : ''
    process.stdout.write(`New columns filled for all rows: ${name} ${columns.join(', ')}${kept}.\n`)
  }
  for (const [name, { from, to, days, rows, compared, repaired }] of Object.entries(result.verified ?? {})) {
    // The account may have removed all days by age.
    const range = from <= to ? `, ${from} to ${to}` : ''
    const fixed = repaired.length > 0 ? `; replaced ${repaired.join(', ')}` : ''
    process.stdout.write(
      `Verified: ${rows} ${name} of ${days} days${range}; compared by day: ${compared.join(', ')}${fixed}.\n`,
    )
  }
}

/** Whether a later run may succeed: the network, a server that is starting or busy, or a proxy that responds in its place. */
function isTemporary(error: unknown): boolean {
  if (error instanceof TributaryError) return error.status >= 500 || error.status === 429 || error.status === 200
  return error instanceof TemporaryError || !(error instanceof SyncError)
}

/** @returns one line; a response may have any characters */
function errorLine(error: unknown): string {
  return errorReason(error).replaceAll(/\p{Cc}/gu, ' ')
}

function errorReason(error: unknown): string {
  if (error instanceof TributaryError) return `${error.message} (${error.status} ${error.code})`
  if (!(error instanceof Error)) return `${error}`
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return (error.message || error.name).split('\n')[0] + cause
}

function parseTarget(text: string): string {
  if (isPostgres(text) || !text.includes('://')) return text
  throw new InvalidArgumentError('Use postgres://user:password@host:5432/database or a folder.')
}

function isPostgres(target: string): boolean {
  return /^postgres(ql)?:\/\//.test(target)
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text
  throw new InvalidArgumentError('Use an address such as https://api.example.com.')
}

function parseResources(text: string): string[] {
  const names = text.split(',').map((name) => name.trim().replaceAll('-', '_'))
  const unknown = names.find((name) => !resourceNames.includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`No such resource: ${unknown}.`)
  return names
}

function parseDay(text: string): string {
  if (isDay(text)) return text
  throw new InvalidArgumentError('Use a day such as 2026-01-01.')
}

function parseInterval(text: string): number {
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? []
  const ms = Number(count) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h']
  if (ms >= 1_000 && ms <= 86_400_000) return ms
  throw new InvalidArgumentError('Use 1s to 24h, such as 30s, 5m or 1h.')
}

function parseSchema(text: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(text)) return text
  throw new InvalidArgumentError('Use lower-case letters, digits and _.')
}
