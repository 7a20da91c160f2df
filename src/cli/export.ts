import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Argument, Option } from 'commander'
import { writeFile } from '../export/outputFile.ts'
import { exportRows } from '../export/run.ts'
import { type FileFormat, formatOf } from '../import/parsers/fileFormat.ts'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'
import { openRange } from '../query/timeRange.ts'
import type { Command, CommandContext } from './context.ts'
import { explainOutage, UsageError } from './errors.ts'
import { accountOption, type RangeOptions, readAsApi } from './options.ts'

interface ExportOptions extends RangeOptions {
  account: string
  format?: 'ndjson' | 'csv'
  output?: string
}

export function addExportCommand(program: Command, context: CommandContext): void {
  program
    .command('export')
    .description('Write the stored rows of an account in the format that import reads.')
    .addArgument(new Argument('<resource>', 'kind of rows').choices(resourceNames))
    .addOption(accountOption())
    .option('--from <moment>', 'start of the range: 2026-11-01 or 2026-11-01T00:00:00Z')
    .option('--to <moment>', 'end of the range: a time is exclusive, a date includes its whole UTC day')
    .addOption(new Option('--format <format>', 'default: by the name of --output').choices(['ndjson', 'csv']))
    .option('--output <file>', 'new file: .ndjson, .jsonl, .json or .csv, also with .gz (default: standard output)')
    .notes(`
Exports the latest version of each row, including tests and bots, in no particular order. The range applies to clickedAt,
convertedAt, spentAt (costs), receivedAt (pixel events) or createdAt (other resources). The file appears once it is complete.

Examples:
  tributary export clicks --account acme --from 2026-11-01 --output clicks.ndjson.gz
  tributary export conversions --account acme --format csv > conversions.csv
  tributary export campaigns --account acme | tributary import campaigns - --account other`)
    .action((resource: ResourceName, options: ExportOptions) => runExport(context, resource, options))
}

async function runExport(context: CommandContext, resource: ResourceName, options: ExportOptions): Promise<void> {
  const { isCsv, isGzipped } = readFormat(options)
  const range = readAsApi(() => openRange(options))
  if (context.json && options.output === undefined) throw new UsageError('--json requires --output.')
  const { stores, account } = await context.openAccount(options.account)
  const signal = context.interrupted
  const query = {
    resource,
    accountId: account.id,
    currency: account.currency,
    range,
    format: isCsv ? 'csv' : 'ndjson',
  } as const
  const chunks = exportRows(stores, query, signal)
  try {
    if (options.output === undefined) {
      await pipeline(Readable.from(chunks), context.stdout, { signal, end: false })
    } else {
      const { rows, bytes } = await writeFile(options.output, chunks, { isCsv, isGzipped, signal })
      context.print({ rows, bytes }, `${rows} rows written to ${options.output}.`)
    }
  } catch (error) {
    const state = options.output === undefined ? 'The output is incomplete.' : 'No file was written.'
    throw explainOutage(error, signal, state)
  }
}

/** @throws UsageError if the file name has no known extension or contradicts `--format` */
function readFormat({ format, output = '-' }: ExportOptions): FileFormat {
  const named = formatOf(output)
  if (!named || named.delimiter) {
    throw new UsageError(`${output} must end in .ndjson, .jsonl, .json or .csv, also followed by .gz.`)
  }
  if (output === '-') return { ...named, isCsv: format === 'csv' }
  if (format !== undefined && (format === 'csv') !== named.isCsv) {
    throw new UsageError(`${output} contradicts --format ${format}.`)
  }
  return named
}
