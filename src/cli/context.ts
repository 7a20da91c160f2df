import type { Settings } from '../settings.ts'
import { readSettings } from '../settings.ts'
import { migrate } from '../stores/migrations/migrate.ts'
import { openStores, type StoreLog, type Stores } from '../stores/open.ts'
import { CommandError } from './errors.ts'

/** Where a run of the command takes place: the process, or a test. */
export interface ProcessIo {
  readonly environment: Record<string, string | undefined>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** What every verb is given: settings, stores, and where its words go. */
export interface CommandContext {
  /** Whether `--json` was given: then standard output carries one JSON object and nothing else. */
  readonly json: boolean
  /** Aborts, with a Failure, at the first SIGINT or SIGTERM; a second one ends the process. Unless a verb reads it, the first one does. */
  readonly interrupted: AbortSignal
  /** @throws SettingsError */
  readonly settings: Settings
  /**
   * Opens both stores, brought to the current schema; at further calls the same ones. They are closed when the verb ends.
   * @throws SettingsError, EmbeddedError or MigrationError
   */
  openStores(): Promise<Stores>
  /** The answer of the verb: the object with `--json`, else the text. */
  print(answer: object, text: string): void
  /** For verbs whose answer is a stream of its own. */
  readonly stdout: NodeJS.WritableStream
  /** A line for whoever watches, on standard error. */
  printStatus(line: string): void
}

/** The context and the handles that belong to whoever runs the verb. */
export interface OpenCommandContext extends CommandContext {
  json: boolean
  close(): Promise<void>
}

/** Makes the context of one run of the command. The settings are read at first use, so that help needs none. */
export function openContext({ environment, stdout, stderr }: ProcessIo): OpenCommandContext {
  let settings: Settings | undefined
  let stores: Promise<Stores> | undefined
  let interruption: ReturnType<typeof interruptible> | undefined
  const say = (line: string) => void stderr.write(`${line}\n`)
  const log: StoreLog = ({ level, message }) => {
    if (level !== 'info') say(`${level}: ${message}`)
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
      stores ??= openMigrated(context.settings, log)
      return stores
    },
    print(answer, text) {
      stdout.write(`${context.json ? JSON.stringify(answer) : text}\n`)
    },
    stdout,
    printStatus: say,
    async close() {
      interruption?.end()
      const opened = await stores?.catch(() => undefined)
      await opened?.close()
    },
  }
  return context
}

async function openMigrated(settings: Settings, log: StoreLog): Promise<Stores> {
  const stores = await openStores(settings, log)
  try {
    await migrate(stores)
    return stores
  } catch (error) {
    await stores.close()
    throw error
  }
}

/** Hears the first SIGINT or SIGTERM; the next one ends the process, and so does the first after `end`. */
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
