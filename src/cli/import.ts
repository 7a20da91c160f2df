import { resolve } from 'node:path'
import { Argument, InvalidArgumentError } from 'commander'
import { columnNames, shapeOf } from '../import/header.ts'
import type { ImportOptions, RejectLimit } from '../import/options.ts'
import { type Delimiter, delimiters, FormatError, formatOf } from '../import/parsers/fileFormat.ts'
import { TooManyRejects } from '../import/rejects.ts'
import { type ImportName, importNames } from '../import/resourceNames.ts'
import { importRows } from '../import/run.ts'
import { type ImportFile, SourceError } from '../import/source.ts'
import { emptyTally, type Tally } from '../import/tally.ts'
import type { Stores } from '../stores/open.ts'
import { LeaseLost } from '../stores/postgres/lease.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, explainOutage, Interruption, UsageError } from './errors.ts'
import { addMappingOptions, type MappingOptions, readMapping } from './mappingOptions.ts'
import { accountOption, parserOf } from './options.ts'
import { showProgress } from './progress.ts'

interface ImportCommandOptions extends MappingOptions {
  account: string
  delimiter?: Delimiter
  dryRun?: true
  maxRejects?: RejectLimit
  rejects?: string
  strict?: true
}

export function addImportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('import')
    .description('Import the rows of a file into an account; importing a file twice changes nothing.')
    .addArgument(new Argument('<resource>', 'kind of rows').choices(importNames))
    .argument('<file>', '.ndjson, .jsonl, .json, .csv or .tsv, also with .gz; - for NDJSON from standard input')
    .addOption(accountOption())
  addMappingOptions(command)
    .option('--delimiter <character>', 'of CSV: , or ; or tab (default: recognized by the header)', parseDelimiter)
    .option('--rejects <path>', 'file for rejected rows, up to 100 MB (default: FILE.rejects.ndjson)')
    .option('--max-rejects <limit>', 'stop when more rows are rejected: 500 or 1%', parseRejectLimit)
    .option('--strict', 'exit with 1 if a row was rejected')
    .option('--dry-run', 'check the rows, store none')
    .notes(`
Rejected rows are written to a separate file, each with its line number and the reason; all other rows are stored. The
limit as a percentage applies from the 1000th row on; without a limit, an import stops when the first 1000 rows are all rejected. An
interrupted or stopped import is completed by running it again, from standard input with the same rows in the same order.

Rows have the fields and names of the API; the first line of a CSV file names them. * marks required fields.
${importNames.map((name) => fieldsHelp(program, name)).join('\n')}

Examples:
  tributary import campaigns campaigns.csv --account acme
  tributary import clicks clicks.ndjson.gz --account acme
  tributary import conversions conversions.csv --account acme --max-rejects 1%
  tributary import clicks export.csv --account acme --map clickid=id,ts=clickedAt --constant campaignId=spring --dry-run
  zcat *.gz | tributary import clicks - --account acme --rejects rejected.ndjson`)
    .action((resource: ImportName, file: string, options: ImportCommandOptions) =>
      runImport(context, resource, file, options),
    )
}

function fieldsHelp(program: Command, resource: ImportName): string {
  const { required } = shapeOf(resource)
  const names = columnNames(resource).map((name) => (required.includes(name) ? `${name}*` : name))
  const fields = program.createHelp().boxWrap(names.join(', '), 110)
  return `\n  ${resource}\n${fields.replace(/^/gm, '    ')}`
}

async function runImport(context: CommandContext, resource: ImportName, file: string, options: ImportCommandOptions) {
  const { delimiter, maxRejects, strict, dryRun: isDryRun = false } = options
  const format = formatOf(file)
  if (!format)
    throw new UsageError(
      `${file} must end in .ndjson, .jsonl, .json, .csv or .tsv, also followed by .gz, or be - for standard input; save a workbook as CSV.`,
    )
  if (delimiter !== undefined && !format.isCsv) throw new UsageError(`--delimiter is for CSV, but ${file} is NDJSON.`)
  const mapping = await readMapping(resource, options)
  if (mapping.replaceDays && !format.isCsv) throw new UsageError(`--replace-days is for CSV, but ${file} is NDJSON.`)
  const rejects = options.rejects ?? (file === '-' || isDryRun ? undefined : `${file}.rejects.ndjson`)
  if (rejects !== undefined && resolve(rejects) === resolve(file))
    throw new UsageError('--rejects must not be the imported file.')
  const { stores, account } = await context.openAccount(options.account)
  const source = { path: file, format: { ...format, ...(delimiter && { delimiter }) } }
  const limit = maxRejects && { rejectLimit: maxRejects }
  const wanted = { resource, account, source, rejects, mapping, isDryRun, ...limit, nowMs: Date.now() }
  const tally: Tally = emptyTally()
  const notes = await importFile(context, stores, wanted, tally)
  const { aborted, reason } = context.interrupted
  const isEndedEarly = aborted && file === '-'
  // SIGTERM is the regular end of an endless input. SIGINT must also stop a list of commands of a shell.
  if (isEndedEarly && !(reason instanceof Interruption && reason.signal === 'SIGTERM'))
    throw asImportError(reason, context.interrupted, wanted, tally)
  if (isEndedEarly) context.printStatus('Warning: ended by SIGTERM. What was read is stored.')
  else if (tally.read === 0) context.printStatus(`Warning: ${file} has no rows.`)
  const noted = notes.length > 0 && { notes }
  const { read, rejected, totals = 0, replaced } = tally
  const more = [totals > 0 ? `, ${totals} totals` : '', replacedText(tally, isDryRun)]
  if (isDryRun) {
    const valid = read - rejected - totals
    context.print(
      { read, valid, rejected, ...(totals > 0 && { totals }), ...(replaced && { replaced }), ...noted },
      `Dry run: ${read} read, ${valid} valid, ${rejected} rejected${more.join('')}; nothing was stored.`,
    )
  } else context.print({ ...tally, ...noted }, `${importedSentence(tally, rejects)}${more.join('')}.`)
  if (replaced && rejected > 0)
    throw new CommandError(`rejected rows: ${rejected}; no stored cost became 0. Correct the file and import it again.`)
  if (strict && rejected > 0)
    throw new CommandError(`${rejected} ${rejected === 1 ? 'row was' : 'rows were'} rejected (--strict).`)
  if (rejected > 0 && rejected + totals === read) throw new CommandError('every row was rejected.')
}

const parseDelimiter = parserOf(
  (text) => delimiters.find((known) => known === text.replace('tab', '\t')),
  'Use , or ; or tab.',
)

function parseRejectLimit(text: string): RejectLimit {
  const [, number, percent] = /^(\d{1,12}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? []
  const value = Number(number)
  if (percent === '%' && value <= 100) return { percent: value }
  if (percent === '' && Number.isInteger(value)) return { rows: value }
  throw new InvalidArgumentError('Use a number of rows, such as 500, or a percentage, such as 1%.')
}

function replacedText({ replaced }: Tally, isDryRun: boolean): string {
  if (!replaced) return ''
  return `; ${replaced.rows} stored costs, ${replaced.cost} in all, ${isDryRun ? 'would become' : 'became'} 0`
}

function importedSentence(tally: Tally, rejects: string | undefined): string {
  const { read, inserted, updated, duplicates, older, conflicting, rejected } = tally
  const where = rejected > 0 && rejects !== undefined ? ` (see ${rejects})` : ''
  const kinds = [older > 0 ? `${older} older` : [], conflicting > 0 ? `${conflicting} conflicting` : []].flat()
  const within = kinds.length > 0 ? ` (${kinds.join(', ')})` : ''
  return `${read} ${read === 1 ? 'row' : 'rows'} read: ${inserted} inserted, ${updated} updated, ${duplicates} duplicates${within}, ${rejected} rejected${where}`
}

type FileImport = ImportOptions & { source: ImportFile }

/** Imports a file, and shows the progress. @throws the reason why the import ended, with its progress, in one line; or a bug */
export async function importFile(context: CommandContext, stores: Stores, wanted: FileImport, tally: Tally) {
  const progress = showProgress(context)
  try {
    return await importRows(stores, wanted, tally, progress)
  } catch (error) {
    throw asImportError(error, context.interrupted, wanted, tally)
  } finally {
    progress.end()
  }
}

/** The reason why an import ended, with its progress, in one line. Unexpected errors are returned unchanged. */
function asImportError(error: unknown, interrupted: AbortSignal, { source, rejects }: FileImport, tally: Tally) {
  const file = source.path
  const stored = tally.inserted + tally.updated + tally.duplicates
  const soFar = `Stored so far: ${stored} of ${tally.read} rows read.`
  const again =
    file === '-' ? 'Run it again with the same rows in the same order to complete it.' : 'Run it again to complete it.'
  if (error instanceof FormatError) return new CommandError(`${file} cannot be imported: ${error.message}.`)
  if (error instanceof TooManyRejects) {
    const where = rejects === undefined ? '' : ` (see ${rejects})`
    return new CommandError(`import stopped${where}. ${error.message} ${soFar}`)
  }
  if (error instanceof SourceError && tally.read > 0)
    return new CommandError(`${error.message} ${soFar}${file === '-' ? ` ${again}` : ''}`)
  if (error instanceof LeaseLost) return new CommandError(`${error.message} ${soFar}`)
  return explainOutage(error, interrupted, `${soFar} ${again}`)
}
