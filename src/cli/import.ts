import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatOf } from '../import/fileFormat.ts'
import { HeaderError } from '../import/formats/csv.ts'
import { resourceNames } from '../import/resourceNames.ts'
import { importRows, type Tally } from '../import/run.ts'
import { openSource, SourceError } from '../import/source.ts'
import { Problem } from '../problem.ts'
import { LeaseLost } from '../stores/postgres/lease.ts'
import { parseId, requireAccount } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { parseResource } from './options.ts'
import { openProgress } from './progress.ts'

/** `import RESOURCE FILE`: rows of a file into an account. */
export function addImportCommand(program: Command, context: CommandContext): void {
  program
    .command('import')
    .description('Read rows of a file into an account; running it again changes nothing.')
    .argument('<resource>', resourceNames.join(', '))
    .argument('<file>', '.ndjson or .csv, either also .gz; - for NDJSON on standard input')
    .requiredOption('--account <id>', 'the account', parseId)
    .option('--rejects <path>', 'where rejected rows go (default: FILE.rejects.ndjson)')
    .option('--strict', 'exit 1 when a row was rejected')
    .addHelpText(
      'after',
      `
Rows have the fields that the API lists, by the same names. Rejected rows go to a file of their own, each with its line
number and the reason; the others are kept. A file is known by its content, standard input is not: where one conversion
stands in it more than once, give each row its updatedAt, or a run that was cut short can't be completed by another.

Examples:
  tributary import clicks clicks.ndjson.gz --account acme
  tributary import conversions conversions.csv --account acme --strict
  zcat *.gz | tributary import clicks - --account acme --rejects rejected.ndjson`,
    )
    .action((resource: string, file: string, options: { account: string; rejects?: string; strict?: true }) =>
      runImport(context, resource, file, options),
    )
}

async function runImport(
  context: CommandContext,
  resource: string,
  file: string,
  options: { account: string; rejects?: string; strict?: true },
): Promise<void> {
  const name = parseResource(resource, 'import')
  const format = formatOf(file)
  if (!format)
    throw new UsageError(`${file} must end in .ndjson or .csv, or either and .gz; or be - for standard input.`)
  const rejects = options.rejects ?? (file === '-' ? undefined : `${file}.rejects.ndjson`)
  if (rejects !== undefined && resolve(rejects) === resolve(file)) {
    throw new UsageError('--rejects must not be the file that is read.')
  }
  const stores = await context.openStores()
  const account = await requireAccount(stores.postgres, options.account)
  const tally: Tally = { read: 0, inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
  const bar = openProgress()
  try {
    const open = (signal: AbortSignal) => openSource(file, format, signal)
    await importRows(stores, { resource: name, account, open, rejects, nowMs: Date.now() }, tally, {
      onMessage: (line) => bar.printAbove(() => context.printStatus(line)),
      signal: context.interrupted,
      onProgress: bar.show,
    })
  } catch (error) {
    bar.stop()
    throw asCommandError(error, tally, context.interrupted)
  }
  bar.stop()
  context.print(tally, sentence(tally, rejects))
  if (options.strict && tally.rejected > 0) throw new CommandError(`${tally.rejected} rows were rejected (--strict).`)
}

function sentence({ read, inserted, updated, duplicates, rejected }: Tally, rejects: string | undefined): string {
  const where = rejected > 0 && rejects !== undefined ? ` (see ${rejects})` : ''
  return `${read} ${read === 1 ? 'row' : 'rows'} read: ${inserted} inserted, ${updated} updated, ${duplicates} duplicates, ${rejected} rejected${where}.`
}

/** What ended an import, in one line that says how far it came; anything unforeseen stays what it is. */
function asCommandError(error: unknown, tally: Tally, interrupted: AbortSignal): unknown {
  const stored = tally.inserted + tally.updated + tally.duplicates
  const soFar = `Stored so far: ${stored} of ${tally.read} rows read.`
  const again = 'Running it again completes it.'
  if (interrupted.aborted) return new CommandError(`interrupted. ${soFar} ${again}`)
  if (error instanceof HeaderError) return new CommandError(`the file can't be read: ${error.message}.`)
  if (error instanceof SourceError)
    return new CommandError(tally.read > 0 ? `${error.message} ${soFar}` : error.message)
  if (error instanceof LeaseLost) return new CommandError(`${error.message} ${soFar}`)
  if (error instanceof Problem && error.status === 503) return new CommandError(`a store stays away. ${soFar} ${again}`)
  return error
}
