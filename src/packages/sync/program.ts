import { readFile } from 'node:fs/promises'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { outputFormats } from './output.ts'
import { kindOf } from './place.ts'
import { type RunOptions, synchronize, synchronizeAll } from './runs.ts'
import { errorLine, SyncError } from './source/errors.ts'
import { isDay } from './source/received.ts'
import { changing, metadata } from './source/resources.ts'
import { runStatement, type StatementOptions } from './statement.ts'

type Options = Omit<RunOptions, 'url'> &
  StatementOptions & {
    url?: string
    sql?: string
    sqlFile?: string
    keys?: string
    /** False with `--no-sync`. */
    sync: boolean
  }

const resourceNames = [...changing, ...metadata].map(({ name }) => name)

/**
 * Runs the command.
 * @param environment has the API key in TRIBUTARY_KEY
 * @returns the exit code: 0, 1 for a failure, 2 for wrong arguments
 */
export async function run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const program: Command = new Command('tributary-sync')
    .description(
      'Keeps a copy of the rows of a Tributary account in PostgreSQL, in DuckDB, or as Parquet files. The API key is in TRIBUTARY_KEY; for s3:// the credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    )
    .argument(
      '<target>',
      'postgres://user:password@host:5432/database, a file such as warehouse.duckdb, or for Parquet files a folder or s3://bucket/prefix',
      parseTarget,
    )
    .option('--url <url>', 'address of the API, such as https://api.example.com', parseUrl)
    .option('--endpoint <url>', 'address of another store than Amazon S3, for s3://', parseUrl)
    .addOption(
      new Option('--resources <list>', `resources, separated by commas: ${resourceNames.join(', ')}`)
        .argParser(parseResources)
        .default(resourceNames, 'all'),
    )
    .option(
      '--from <day>',
      'first UTC day of clicks, conversions, costs and events, such as 2026-01-01; default: all',
      parseDay,
    )
    .option('--every <time>', 'repeat until interrupted, such as 30s, 5m or 1h', parseInterval)
    .option('--verify', 'compare every day with the checksums of the API and replace days that differ')
    .option('--schema <name>', 'schema of the tables', parseSchema, 'tributary')
    .addOption(
      new Option(
        '--keys <file>',
        'a key of each account, one per line, instead of TRIBUTARY_KEY; each account gets a schema, file, folder or prefix of its own',
      ).conflicts(['sql', 'sqlFile']),
    )
    .option('--heartbeat <file>', 'file that is written after each run that succeeds, with --keys for all accounts')
    .option('--json', 'print the result of each run as one JSON object')
    .addOption(
      new Option(
        '--sql <statement>',
        'then execute one statement on the copy, which reads, and print its rows',
      ).conflicts(['every', 'json', 'sqlFile']),
    )
    .addOption(new Option('--sql-file <file>', 'the same with a statement in a file').conflicts(['every', 'json']))
    .option('--param <name=value>', 'text for $name in the statement; repeat it for further names', parseParameter)
    .addOption(
      new Option('--format <format>', 'of these rows; default: table on a terminal, else csv').choices(outputFormats),
    )
    .option('--no-sync', 'execute the statement on the copy as it is, without --url and a key')
    .helpOption('-h, --help', 'show help')
    .addHelpText(
      'after',
      `
Exit codes:
  0 success, 1 failure (one line on standard error says why), 2 wrong arguments

Examples:
  TRIBUTARY_KEY=trb_live_… tributary-sync postgres://localhost/warehouse --url https://api.example.com --every 5m
  TRIBUTARY_KEY=trb_live_… tributary-sync ./warehouse.duckdb --url https://api.example.com \\
    --sql "SELECT name, clicks, revenue FROM report('campaign', '2026-11-01', '2026-12-01')"`,
    )
    .exitOverride()
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new SyncError('interrupted; the next run continues here.'))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    await program.parseAsync(args, { from: 'user' })
    const [target = ''] = program.processedArgs as string[]
    const { url, ...options } = program.opts<Options>()
    const statement = await readStatement(program, target, options)
    if (options.sync) {
      if (url === undefined) program.error("error: required option '--url <url>' not specified")
      const keys = options.keys === undefined ? undefined : await readKeys(program, options.keys)
      const key = environment.TRIBUTARY_KEY ?? ''
      if (!keys && !key) program.error('error: set TRIBUTARY_KEY to an API key that reads the resources.')
      const print = statement === undefined ? process.stdout : process.stderr
      const run = { ...options, url, print }
      if (keys) await synchronizeAll(target, keys, run, interrupted.signal)
      else await synchronize(target, key, run, interrupted.signal)
    }
    if (statement !== undefined) await runStatement(target, statement, options, interrupted.signal)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`error: ${errorLine(error)}\n`)
    return 1
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** @returns the keys of a file, one per line; blank lines and comments after `#` are ignored */
async function readKeys(program: Command, file: string): Promise<string[]> {
  const lines = (await readText(program, '--keys', file)).split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const isValid = keys.length > 0 && keys.every((key) => /^[\x21-\x7e]+$/.test(key))
  return isValid ? keys : program.error(`error: --keys: ${file} must have an API key per line.`)
}

function readText(program: Command, option: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => program.error(`error: ${option}: ${error.message}`))
}

/** @returns the statement to execute after the run; undefined if there is none */
async function readStatement(program: Command, target: string, { sql, sqlFile, format, sync, param }: Options) {
  const statement = sqlFile === undefined ? sql : await readText(program, '--sql-file', sqlFile)
  if (statement === undefined) {
    if (format !== undefined || !sync || param)
      program.error('error: --format, --no-sync and --param belong to --sql or --sql-file.')
    return undefined
  }
  const comments = /--[^\n]*|\/\*.*?(?:\*\/|$)/gs
  if (statement.replaceAll(comments, '').trim() === '')
    program.error('error: --sql and --sql-file take one statement; it is empty.')
  if (['folder', 's3'].includes(kindOf(target)))
    program.error('error: --sql needs a copy in PostgreSQL or in a file such as warehouse.duckdb.')
  return statement
}

/** @returns a parser of an option @param allowed says which texts are valid, a sentence */
function textThat(isValid: (text: string) => boolean, allowed: string): (text: string) => string {
  return (text) => {
    if (isValid(text)) return text
    throw new InvalidArgumentError(allowed)
  }
}

const parseTarget = textThat(
  (text) => ['postgres', 's3'].includes(kindOf(text)) || !text.includes('://'),
  'Use postgres://user:password@host:5432/database, a file such as warehouse.duckdb, s3://bucket/prefix, or a folder.',
)
const parseUrl = textThat(
  (text) => URL.canParse(text) && /^https?:/.test(text),
  'Use an address such as https://api.example.com.',
)
const parseDay = textThat(isDay, 'Use a day such as 2026-01-01.')
const parseSchema = textThat((text) => /^[a-z_][a-z0-9_]{0,62}$/.test(text), 'Use lower-case letters, digits and _.')

function parseResources(text: string): string[] {
  const names = text.split(',').map((name) => name.trim().replaceAll('-', '_'))
  const unknown = names.find((name) => !resourceNames.includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`No such resource: ${unknown}.`)
  return names
}

function parseParameter(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([a-z_][a-z0-9_]*)=(.*)$/s.exec(text) ?? []
  if (name !== undefined && value !== undefined && !(name in before)) return { ...before, [name]: value }
  throw new InvalidArgumentError('Use name=value, each name once, with lower-case letters, digits and _ in the name.')
}

function parseInterval(text: string): number {
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? []
  const ms = Number(count) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h']
  if (ms >= 1_000 && ms <= 86_400_000) return ms
  throw new InvalidArgumentError('Use 1s to 24h, such as 30s, 5m or 1h.')
}
