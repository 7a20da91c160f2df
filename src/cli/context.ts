import { printableLines } from '../import/printable.ts'
import type { Settings } from '../settings.ts'
import { readSettings } from '../settings.ts'
import { migrate } from '../stores/migrations/migrate.ts'
import { openStores, type StoreLog, type Stores } from '../stores/open.ts'
import type { Writer } from '../writer/lease/writer.ts'
import { type WriterOptions, withWriter } from '../writer/openWriter.ts'
import { CommandError } from './errors.ts'
import { describeCreated } from './storeLocation.ts'

/** Environment variables and streams of one run of the command. */
export interface ProcessIo {
  readonly environment: Record<string, string | undefined>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** Settings, stores and output streams of a subcommand. */
export interface CommandContext {
  /** Whether `--json` was given: standard output is then one JSON object and nothing else. */
  readonly json: boolean
  /**
   * Aborts with a CommandError on the first SIGINT or SIGTERM; the second one ends the process. If a subcommand never reads
   * this property, the first signal ends the process.
   */
  readonly interrupted: AbortSignal
  /** @throws SettingsError */
  readonly settings: Settings
  /**
   * Opens both stores and migrates them to the current schema; further calls return the same ones. Stores that did not exist
   * are named on standard error. They are closed when the subcommand ends.
   * @throws SettingsError, EmbeddedError or MigrationError
   */
  openStores(): Promise<Stores>
  /** Runs work with the writer of an account, whose progress messages are printed on standard error. @throws what `openWriter` throws */
  withWriter<Result>(
    accountId: string,
    work: (writer: Writer) => Promise<Result>,
    first?: WriterOptions['first'],
  ): Promise<Result>
  /** Prints the result of the subcommand: the object with `--json`, else the text. Control characters are escaped. */
  print(result: object, text: string): void
  /** For subcommands that stream their result. */
  readonly stdout: NodeJS.WritableStream
  /** Prints a line on standard error; control characters are escaped. */
  printStatus(line: string): void
}

/** The context with the members that only the caller of the subcommand uses. */
export interface OpenCommandContext extends CommandContext {
  json: boolean
  close(): Promise<void>
}

/** Creates the context of one run of the command. Settings are read at first use, so that help does not need them. */
export function openContext({ environment, stdout, stderr }: ProcessIo): OpenCommandContext {
  let settings: Settings | undefined
  let stores: Promise<Stores> | undefined
  let interruption: ReturnType<typeof interruptible> | undefined
  const printStatus = (line: string) => void stderr.write(`${printableLines(line)}\n`)
  const log: StoreLog = ({ level, message }) => {
    if (level !== 'info') printStatus(`${level}: ${message}`)
  }
  const context: OpenCommandContext = {
    json: false,
    get settings() {
      settings ??= readSettings(environment)
      return settings
    },
    get interrupted() {
      interruption ??= interruptible()
      return interruption.signal
    },
    openStores() {
      stores ??= openMigrated(context, log)
      return stores
    },
    async withWriter(accountId, work, first = 'recover') {
      const options = { onMessage: printStatus, signal: context.interrupted, first }
      return await withWriter(await context.openStores(), accountId, options, work)
    },
    print(result, text) {
      stdout.write(`${printableLines(context.json ? JSON.stringify(result) : text)}\n`)
    },
    stdout,
    printStatus,
    async close() {
      interruption?.end()
      const opened = await stores?.catch(() => undefined)
      await opened?.close()
    },
  }
  return context
}

async function openMigrated({ settings, printStatus }: CommandContext, log: StoreLog): Promise<Stores> {
  const stores = await openStores(settings, log)
  try {
    const created = describeCreated(settings, await migrate(stores))
    if (created) printStatus(created)
    return stores
  } catch (error) {
    await stores.close()
    throw error
  }
}

/** Handles the first SIGINT or SIGTERM; the next one ends the process, as does the first one after `end`. */
function interruptible(): { signal: AbortSignal; end: () => void } {
  const interruption = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  const end = () => {
    for (const name of signals) process.off(name, interrupt)
  }
  const interrupt = (signal: NodeJS.Signals) => {
    end()
    interruption.abort(new CommandError(`interrupted by ${signal}.`))
  }
  for (const name of signals) process.on(name, interrupt)
  return { signal: interruption.signal, end }
}
