import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import { counted, TargetError, type Written, writeFile } from '../export/outputFile.ts'
import { exportRows } from '../export/run.ts'
import { type FileFormat, formatOf } from '../import/fileFormat.ts'
import { resourceNames } from '../import/resourceNames.ts'
import { Problem } from '../problem.ts'
import { listRange, type Range } from '../query/timeRange.ts'
import { parseId, requireAccount } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { parseResource } from './options.ts'

interface ExportOptions {
  account: string
  from?: string
  to?: string
  format?: 'ndjson' | 'csv'
  output?: string
}

/** `export RESOURCE`: the stored rows of an account, as `import` takes them. */
export function addExportCommand(program: Command, context: CommandContext): void {
  program
    .command('export')
    .description('Write the stored rows of an account, in the form that import takes.')
    .argument('<resource>', resourceNames.join(', '))
    .requiredOption('--account <id>', 'the account', parseId)
    .option('--from <moment>', 'rows from then on: 2026-11-01, or 2026-11-01T00:00:00Z')
    .option('--to <moment>', 'rows before then; a date includes its whole UTC day')
    .addOption(
      new Option('--format <format>', 'ndjson or csv (default: by the name of FILE)').choices(['ndjson', 'csv']),
    )
    .option('--output <file>', 'a new file: .ndjson or .csv, either also .gz (default: standard output)')
    .addHelpText(
      'after',
      `
Rows are in their latest state, tests and bots included, in an order of their own. The range is one of clickedAt,
convertedAt, receivedAt (pixel events) or createdAt (the others). A file has its name once it is whole.

Examples:
  tributary export clicks --account acme --from 2026-11-01 --output clicks.ndjson.gz
  tributary export conversions --account acme --format csv > conversions.csv
  tributary export campaigns --account acme | tributary import campaigns - --account other`,
    )
    .action((resource: string, options: ExportOptions) => runExport(context, resource, options))
}

async function runExport(context: CommandContext, name: string, options: ExportOptions): Promise<void> {
  const resource = parseResource(name, 'export')
  const { isCsv, isGzipped } = readFormat(options)
  const range = readRange(options)
  if (context.json && options.output === undefined) throw new UsageError('--json needs --output beside it.')
  const stores = await context.openStores()
  const { id: accountId, currency } = await requireAccount(stores.postgres, options.account)
  const written: Written = { rows: 0, bytes: 0 }
  const signal = context.interrupted
  const rows = counted(
    exportRows(stores, { resource, accountId, currency, range, format: isCsv ? 'csv' : 'ndjson' }, signal),
    isCsv,
    written,
  )
  try {
    if (options.output === undefined) await pipeline(Readable.from(rows), context.stdout, { signal, end: false })
    else await writeFile(options.output, rows, { isGzipped, signal })
  } catch (error) {
    throw asCommandError(error, signal, options.output)
  }
  if (options.output !== undefined) context.print(written, `${written.rows} rows written to ${options.output}.`)
}

/** @throws UsageError when the name of the file says nothing, or something else than `--format` */
function readFormat({ format, output = '-' }: ExportOptions): FileFormat {
  const named = formatOf(output)
  if (!named) throw new UsageError(`${output} must end in .ndjson or .csv, or either and .gz.`)
  if (output === '-') return { ...named, isCsv: format === 'csv' }
  if (format !== undefined && (format === 'csv') !== named.isCsv) {
    throw new UsageError(`${output} is no name for a file of ${format}.`)
  }
  return named
}

/** @throws UsageError when it is no range */
function readRange({ from, to }: ExportOptions): Partial<Range> {
  try {
    return listRange({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
  } catch (error) {
    throw error instanceof Problem ? new UsageError(error.message) : error
  }
}

/** What ended an export, in one line that says what is left of it. */
function asCommandError(error: unknown, signal: AbortSignal, output: string | undefined): unknown {
  const left = output === undefined ? 'What was written is not all.' : 'No file was written.'
  if (signal.aborted) return new CommandError(`interrupted. ${left}`)
  if (error instanceof TargetError) return new CommandError(error.message)
  if (error instanceof Problem && error.status === 503) return new CommandError(`a store went away. ${left}`)
  return error
}
