import { CommanderError, Help } from 'commander'
import { causeOf, ExpectedError } from '../expectedError.ts'
import { printable } from '../import/readers/printable.ts'
import { commit, installedVersion, version, zoneData } from '../package.ts'
import { diskFullOf } from '../problem.ts'
import { Command, CommandContext, type ProcessIo } from './context.ts'
import { UsageError } from './errors.ts'

/**
 * The commands by their first word, in the order of the help. Loading one takes half of the time of loading all: a run whose first
 * word names a command loads only that one.
 */
const commands = new Map([
  ['serve', async () => (await import('./serve.ts')).addServeCommand],
  ['migrate', async () => (await import('./migrate.ts')).addMigrateCommand],
  ['doctor', async () => (await import('./doctor.ts')).addDoctorCommand],
  ['account', async () => (await import('./account.ts')).addAccountCommands],
  ['key', async () => (await import('./key.ts')).addKeyCommands],
  ['plan', async () => (await import('./plan.ts')).addPlanCommands],
  ['usage', async () => (await import('./usage.ts')).addUsageCommand],
  ['audit', async () => (await import('./audit.ts')).addAuditCommands],
  ['erase', async () => (await import('./erase.ts')).addEraseCommands],
  ['retention', async () => (await import('./retention.ts')).addRetentionCommands],
  ['import', async () => (await import('./import.ts')).addImportCommand],
  ['feed', async () => (await import('./feed.ts')).addFeedCommand],
  ['export', async () => (await import('./export.ts')).addExportCommand],
  ['report', async () => (await import('./report.ts')).addReportCommand],
  ['demo', async () => (await import('./demo.ts')).addDemoCommand],
  ['verify', async () => (await import('./verify.ts')).addVerifyCommand],
  ['backup', async () => (await import('./backup.ts')).addBackupCommand],
  ['restore', async () => (await import('./restore.ts')).addRestoreCommand],
])

/**
 * Runs one subcommand. Results go to standard output, everything else to standard error, line by line.
 * @param words arguments, without the name of the command
 * @returns the exit code: 0 success, 1 failure, 2 bad usage
 */
export async function runCommand(words: readonly string[], io: ProcessIo): Promise<number> {
  const context = new CommandContext(io)
  const program = new Command('tributary')
    .description('The analytics data API of a click-tracking and attribution platform.')
    .version(describeVersion(), '-V, --version', 'print the versions of the program, Node.js, zone data and engines')
    .option('--json', 'print the result as one JSON object')
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: (option) => `${new Help().optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .notes(`
Settings are environment variables. A database without its variable, DATABASE_URL or CLICKHOUSE_URL, is embedded and stored
in the folder DATA_DIR (default: ./data): commands with the same DATA_DIR use the same store, also while a server runs on it.

Examples:
  tributary serve --demo
  tributary account create --name "Acme Media" --id acme
  tributary key create --account acme --name backend --scopes all --allow-events
  tributary import clicks clicks.csv --account acme`)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => {
        const line = printable(text.trim().replace(/\s+/g, ' '))
        write(/unknown command '[^']*'$/.test(line) ? `${line}; see: tributary --help\n` : `${line}\n`)
      },
    })
    .exitOverride()
    .hook('preAction', () => {
      context.json = program.opts<{ json?: true }>().json === true
    })
  const named = commands.get(words[0] ?? '')
  for (const load of named ? [named] : commands.values()) {
    const add = await load()
    add(program, context)
  }
  for (const group of program.commands) group.helpCommand(false)
  try {
    await program.parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    return printError(error, context.printStatus)
  } finally {
    await context.close()
  }
}

/** The engines are the installed ones, which serve a database without a server. */
function describeVersion(): string {
  const engine = (name: string) => [name, installedVersion(name) ?? 'is not installed'].join(' ')
  return `tributary ${version} (commit ${commit})
Node.js ${process.versions.node}
zone data ${zoneData}
embedded ClickHouse: ${engine('chdb')}
embedded Postgres: ${engine('@electric-sql/pglite')}`
}

function printError(error: unknown, printStatus: (line: string) => void): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const full = diskFullOf(error)
  if (full) {
    const reason = printable(causeOf(full.cause))
    printStatus(`error: ${full.database} cannot write to its disk: ${reason}. Free space on it, then run it again.`)
  } else if (error instanceof ExpectedError || (error as NodeJS.ErrnoException | undefined)?.path) {
    // The message of an error of the file system names the path.
    printStatus(`error: ${printable((error as Error).message)}`)
  } else {
    printStatus(`bug: ${error instanceof Error ? error.stack : String(error)}`)
  }
  return error instanceof UsageError ? 2 : 1
}
