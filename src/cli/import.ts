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

/** `import RESOURCE FILE`: stores the rows of a file in an account. */
export function addImportCommand(program: Command, context: CommandContext): void {
  program
    .command('import')
    .description('Import the rows of a file into an account; importing a file twice changes nothing.')
    .argument('<resource>', resourceNames.join(', '))
    .argument('<file>', '.ndjson, .csv, .ndjson.gz or .csv.gz; - for NDJSON from standard input')
    .requiredOption('--account <id>', 'id of the account', parseId)
    .option('--rejects <path>', 'file for rejected rows (default: FILE.rejects.ndjson)')
    .option('--strict', 'exit with 1 if a row was rejected')
    .addHelpText(
      'after',
      `
Rows have the fields and names of the API. Rejected rows are written to a separate file, each with its line number and
the reason; all other rows are stored. An interrupted import of a file is completed by running it again. With standard
input this works only if each row of a conversion that occurs more than once has an updatedAt.

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
    throw new UsageError(`${file} must end in .ndjson, .csv, .ndjson.gz or .csv.gz, or be - for standard input.`)
  const rejects = options.rejects ?? (file === '-' ? undefined : `${file}.rejects.ndjson`)
  if (rejects !== undefined && resolve(rejects) === resolve(file)) {
    throw new UsageError('--rejects must not be the imported file.')
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

/** The reason why an import ended, with its progress, in one line. Unexpected errors are returned unchanged. */
function asCommandError(error: unknown, tally: Tally, interrupted: AbortSignal): unknown {
  const stored = tally.inserted + tally.updated + tally.duplicates
  const soFar = `Stored so far: ${stored} of ${tally.read} rows read.`
  const again = 'Run it again to complete it.'
  if (interrupted.aborted) return new CommandError(`interrupted. ${soFar} ${again}`)
  if (error instanceof HeaderError) return new CommandError(`the file cannot be read: ${error.message}.`)
  if (error instanceof SourceError)
    return new CommandError(tally.read > 0 ? `${error.message} ${soFar}` : error.message)
  if (error instanceof LeaseLost) return new CommandError(`${error.message} ${soFar}`)
  if (error instanceof Problem && error.status === 503)
    return new CommandError(`a database is still unavailable. ${soFar} ${again}`)
  return error
}
