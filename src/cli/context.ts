import { Command as CommanderCommand } from 'commander'
import { type Account, findAccount } from '../accounts/accounts.ts'
import { printableLines } from '../import/readers/printable.ts'
import { readSettings, type Settings } from '../settings/settings.ts'
import { migrate } from '../stores/migrations/migrate.ts'
import { type OpenOptions, openStores, type StoreLog, type Stores } from '../stores/open.ts'
import type { Writer } from '../writer/fence/session.ts'
import { type WriterOptions, withWriter } from '../writer/openWriter.ts'
import { CommandError, Interruption } from './errors.ts'
import { storeLocation } from './storeLocation.ts'

export class Command extends CommanderCommand {
  override createCommand(name?: string): Command {
    return new Command(name)
  }

  notes(text: string): this {
    return this.addHelpText('after', text)
  }

  example(line: string): this {
    return this.notes(`\nExample:\n  ${line}`)
  }
}

export interface ProcessIo {
  readonly environment: Record<string, string | undefined>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  /** Absent: standard input of the process. */
  readonly stdin?: NodeJS.ReadableStream & { isTTY?: boolean }
}

/** Settings, stores and output streams of a subcommand. Settings are read at first use, so that help does not need them. */
export class CommandContext {
  /** Whether `--json` was given: standard output is then one JSON object and nothing else. */
  json = false
  readonly stdout: NodeJS.WritableStream
  /** The files of the migrations that ran when the stores were opened. */
  applied: readonly string[] = []
  /** Prints a line on standard error; control characters are escaped. */
  readonly printStatus = (line: string): void => void this.#io.stderr.write(`${printableLines(line)}\n`)
  readonly printWarning: StoreLog = ({ level, message }) => {
    if (level !== 'info') this.printStatus(`${level}: ${message}`)
  }
  readonly #io: ProcessIo
  #settings: Settings | undefined
  #stores: Promise<Stores> | undefined
  #closeStores: Stores['close'] | undefined
  #interruption: ReturnType<typeof interruptible> | undefined

  constructor(io: ProcessIo) {
    this.#io = io
    this.stdout = io.stdout
  }

  /** @returns a context of the same subcommand with another embedded store; the caller closes it */
  withDataDir(dataDir: string): CommandContext {
    const environment = { ...this.#io.environment, DATA_DIR: dataDir }
    return Object.assign(new CommandContext({ ...this.#io, environment }), { json: this.json })
  }

  get stdin() {
    return this.#io.stdin ?? process.stdin
  }

  /** @throws SettingsError */
  get settings(): Settings {
    this.#settings ??= readSettings(this.#io.environment)
    return this.#settings
  }

  /**
   * Aborts with an Interruption on the first SIGINT or SIGTERM; the second one ends the process. If a subcommand never reads
   * this property, the first signal ends the process.
   */
  get interrupted(): AbortSignal {
    this.#interruption ??= interruptible()
    return this.#interruption.signal
  }

  /**
   * Opens both stores and migrates them to the current schema; further calls return the same ones. Stores that did not exist
   * are named. They are closed when the subcommand ends.
   * @param log by default prints warnings and errors
   * @param onCreated receives a line that names new stores; by default prints it on standard error
   * @throws SettingsError, EmbeddedError or MigrationError
   */
  openStores(log = this.printWarning, options: OpenOptions = {}, onCreated = this.printStatus): Promise<Stores> {
    this.#stores ??= this.#openMigrated(log, options, onCreated)
    return this.#stores
  }

  async #openMigrated(log: StoreLog, options: OpenOptions, onCreated: (line: string) => void): Promise<Stores> {
    const stores = await openStores(this.settings, log, options)
    this.#closeStores = stores.close
    this.applied = await migrate(stores)
    const isNew = this.applied.some((name) => name.endsWith('/0001_baseline.sql'))
    if (isNew) onCreated(`Created an empty store in ${storeLocation(this.settings)}.`)
    return stores
  }

  /** Runs work with the writer of an account, whose progress messages are printed on standard error. @throws what `openWriter` throws */
  async withWriter<Result>(
    accountId: string,
    work: (writer: Writer) => Promise<Result>,
    first: WriterOptions['first'] = 'recover',
  ): Promise<Result> {
    const options = { onMessage: this.printStatus, signal: this.interrupted, first }
    return await withWriter(await this.openStores(), accountId, options, work)
  }

  /** Opens the stores, and finds an account. @throws CommandError if there is none with this id */
  async openAccount(id: string): Promise<{ stores: Stores; account: Account }> {
    const stores = await this.openStores()
    const account = await findAccount(stores.postgres, id)
    if (!account) throw this.noSuch('account', id)
    return { stores, account }
  }

  noSuch(item: 'account' | 'key', id: string): CommandError {
    const list = item === 'account' ? 'account list' : 'key list --account <id>'
    return new CommandError(`no such ${item}: ${id} in ${storeLocation(this.settings)}; see: ${list}.`)
  }

  /** Prints the result of the subcommand: the object with `--json`, else the text. Control characters are escaped. */
  print(result: object, text: string): void {
    this.stdout.write(`${printableLines(this.json ? JSON.stringify(result) : text)}\n`)
  }

  async close(): Promise<void> {
    this.#interruption?.end()
    await this.#closeStores?.()
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
    interruption.abort(new Interruption(signal))
  }
  for (const name of signals) process.on(name, interrupt)
  return { signal: interruption.signal, end }
}
