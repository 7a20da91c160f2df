import { Command, CommanderError } from 'commander'
import { version } from '../package.ts'
import { Problem } from '../problem.ts'
import { SettingsError } from '../settings.ts'
import { EmbeddedError } from '../stores/embedded/paths.ts'
import { MigrationError } from '../stores/migrations/files.ts'
import { LeaseLost } from '../stores/postgres/lease.ts'
import { addAccountCommands } from './account.ts'
import { openContext, type ProcessIo } from './context.ts'
import { addDemoCommand } from './demo.ts'
import { CommandError, UsageError } from './errors.ts'
import { addExportCommand } from './export.ts'
import { addImportCommand } from './import.ts'
import { addKeyCommands } from './key.ts'
import { addMigrateCommand } from './migrate.ts'
import { addPlanCommands } from './plan.ts'
import { addServeCommand } from './serve.ts'
import { addVerifyCommand } from './verify.ts'

/** The exit codes of every verb. */
const exitCode = { success: 0, failure: 1, badUsage: 2 } as const

/**
 * Runs one verb of the command. Answers go to standard output; everything else is a line on standard error.
 * @param words what follows the name of the command
 * @returns the exit code: 0 success, 1 failure, 2 bad usage
 */
export async function runCommand(words: readonly string[], surroundings: ProcessIo): Promise<number> {
  const context = openContext(surroundings)
  const program = new Command('tributary')
    .description('The reporting API of a click-tracking platform: serve it, fill it, look after it.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a verb')
    .helpCommand(false)
    .option('--json', 'print the answer as one JSON object')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void surroundings.stdout.write(text),
      writeErr: (text) => void surroundings.stderr.write(text),
      outputError: (text, write) => write(`${text.trim().replace(/\s+/g, ' ')}\n`),
    })
    .exitOverride()
    .hook('preAction', () => {
      context.json = program.opts<{ json?: true }>().json === true
    })
  addServeCommand(program, context)
  addMigrateCommand(program, context)
  addAccountCommands(program, context)
  addKeyCommands(program, context)
  addPlanCommands(program, context)
  addImportCommand(program, context)
  addExportCommand(program, context)
  addDemoCommand(program, context)
  addVerifyCommand(program, context)
  for (const group of program.commands) group.helpCommand(false)
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCode.success
  } catch (error) {
    return printError(error, context.printStatus)
  } finally {
    await context.close()
  }
}

function printError(error: unknown, say: (line: string) => void): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.success : exitCode.badUsage
  if (error instanceof UsageError) {
    say(`error: ${error.message}`)
    return exitCode.badUsage
  }
  say(isExpected(error) ? `error: ${error.message}` : `bug: ${error instanceof Error ? error.stack : String(error)}`)
  return exitCode.failure
}

/** Errors whose message is one line for a person; anything else is a bug and shows where it happened. */
function isExpected(error: unknown): error is Error {
  return [CommandError, SettingsError, EmbeddedError, MigrationError, LeaseLost, Problem].some(
    (kind) => error instanceof kind,
  )
}
