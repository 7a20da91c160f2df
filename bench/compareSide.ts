import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Build } from './compareBuild.ts'
import { type CompareData, eventClicks } from './compareData.ts'
import { type CompareRead, checkTotals } from './compareReads.ts'
import { sendEvents, warmUp } from './eventsLoad.ts'
import { childrenCpuMs, cpuMs, enginePid, type Program, startProgram, urlOf } from './processes.ts'
import { type HttpClient, openClient, time } from './timing.ts'

/** CPU time in milliseconds of all threads: of the server and commands, and of the embedded engines. */
export interface CpuTime {
  node: number
  engines: number
}

/** The engines are idle if they use less CPU time in half a second, milliseconds. */
const idleMs = 40

const eventLoad = { identifiers: eventClicks, withIds: true }

/** One commit with its own store, used only through its command and its API: its files may have other names. */
export class Side {
  readonly build: Build
  readonly #data: CompareData
  readonly #dataDir: string
  #key = ''
  /** Of an account of this run; undefined before the first event. */
  #events: { account: string; key: string } | undefined
  #server: Program | undefined
  #client: HttpClient | undefined
  #enginePids: number[] = []
  /** CPU time of all commands of this commit that have ended, milliseconds. */
  #commandsMs = 0
  /** End of the last warm-up. */
  #countedFrom = ''
  #acknowledged = 0
  #connections = 0

  constructor(build: Build, data: CompareData, dataDir: string) {
    this.build = build
    this.#data = data
    this.#dataDir = dataDir
  }

  /** Fills the store, unless an earlier run did so, and starts a server. @throws Error when a row is not stored */
  async open(): Promise<void> {
    const key = join(this.#dataDir, 'compare-key')
    if (!existsSync(key)) {
      await this.#start()
      const filled = await this.#importAll()
      await this.#settle()
      await this.#stop()
      await writeFile(key, filled)
    }
    this.#key = await readFile(key, 'utf8')
    await this.#start()
    this.#client = openClient(this.#key, 16)
    await checkTotals(this.#data, (path) => this.get(path))
    await this.#settle()
  }

  /** @throws Error when acknowledged events are not stored */
  async close(): Promise<void> {
    if (this.#events) {
      const words = ['export', 'pixel-events', '--account', this.#events.account, '--from', this.#countedFrom]
      const stored = (await this.#run(words)).split('\n').length - 1
      // Each connection may have had one more in flight at the end of its load.
      if (stored < this.#acknowledged || stored > this.#acknowledged + this.#connections) {
        throw new Error(`${this.build.name}: ${stored} of ${this.#acknowledged} acknowledged events are stored.`)
      }
    }
    this.#client?.close()
    await this.#stop()
  }

  /** CPU time since the start of the server. */
  cpu(): CpuTime {
    return {
      node: cpuMs(this.#server?.pid ?? 0) + this.#commandsMs,
      engines: this.#enginePids.reduce((sum, pid) => sum + cpuMs(pid), 0),
    }
  }

  /** @param path below /api/v1 @returns the body */
  async get(path: string): Promise<string> {
    return (await this.#client?.get(`${this.#url()}/api/v1${path}`)) ?? ''
  }

  /** Sends as many requests as it has connections. @returns their number */
  async read({ path, connections = 1 }: CompareRead, number: number): Promise<number> {
    await time((index) => this.get(path(number * connections + index)), { requests: connections, connections })
    return connections
  }

  /** Creates an account for events, unless one exists, and sends events until the server has cached their clicks. */
  async warmUpEvents(): Promise<void> {
    if (!this.#events) {
      const account = `events-${Date.now()}`
      this.#events = { account, key: await this.#openAccount(account, '--allow-events') }
      await this.#importFile('campaigns', 'event-campaigns.ndjson', account)
      await this.#importFile('clicks', 'event-clicks.ndjson', account, eventClicks)
    }
    const { key } = this.#events
    await warmUp(this.#url(), { connections: 256, seconds: 6, key }, eventLoad)
    await this.#settle()
    this.#countedFrom = new Date().toISOString()
  }

  /** Sends events, and waits for the end of merges. @returns the number of acknowledged events @throws Error when one is rejected */
  async sendEvents(connections: number, seconds: number, number: number): Promise<number> {
    const options = { connections, seconds, run: `${number}-${connections}`, key: this.#events?.key ?? '' }
    const { requests, rejected, broken } = await sendEvents(this.#url(), options, eventLoad)
    if (rejected + broken > 0) throw new Error(`events: ${rejected} were rejected, ${broken} connections broke.`)
    this.#acknowledged += requests
    this.#connections += connections
    await this.#settle()
    return requests
  }

  /** Imports clicks of a new account, and waits for the end of merges. @returns the number of clicks */
  async importClicks(): Promise<number> {
    const account = `import-${Date.now()}`
    await this.#run(['account', 'create', '--name', account, '--id', account])
    await this.#importFile('clicks', 'import.ndjson', account, this.#data.importRows)
    await this.#settle()
    return this.#data.importRows
  }

  /** @returns the key of the account */
  async #importAll(): Promise<string> {
    const { clicks } = this.#data
    const limits = ['requests', 'events', 'identifier-events'].flatMap((name) => [`--${name}-per-minute`, '100000000'])
    await this.#run(['plan', 'set', 'scale', ...limits, '--click-allowance', '1000000000'])
    const key = await this.#openAccount('reads')
    await this.#importFile('campaigns', 'campaigns.ndjson', 'reads')
    await this.#importFile('clicks', 'clicks.ndjson', 'reads', clicks)
    await this.#importFile('conversions', 'conversions.ndjson', 'reads', Math.floor(clicks / 100))
    return key
  }

  /** Creates an account. @returns a key of it */
  async #openAccount(account: string, ...words: string[]): Promise<string> {
    await this.#run(['account', 'create', '--name', account, '--id', account, '--plan', 'scale'])
    const name = ['--account', account, '--name', 'compare']
    const created = await this.#run(['key', 'create', ...name, '--scopes', 'all', ...words, '--json'])
    return (JSON.parse(created) as { key: string }).key
  }

  async #importFile(resource: string, file: string, account: string, rows?: number): Promise<void> {
    const words = ['import', resource, join(this.#data.folder, file), '--account', account, '--json']
    const { inserted, rejected } = JSON.parse(await this.#run(words)) as { inserted: number; rejected: number }
    if (rejected > 0 || inserted !== (rows ?? inserted)) {
      throw new Error(`import of ${file}: ${inserted} rows were inserted of ${rows}, ${rejected} rejected.`)
    }
  }

  /** Runs the command of the commit. @returns its standard output @throws Error when it fails */
  async #run(words: readonly string[]): Promise<string> {
    const beforeMs = childrenCpuMs()
    const child = spawn(process.execPath, [join(this.build.code, 'dist/src/main.js'), ...words], {
      cwd: this.build.code,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    if (code !== 0) throw new Error(`${this.build.name}: ${words[0]} ended with ${code}: ${stderr}`)
    this.#commandsMs += childrenCpuMs() - beforeMs
    return stdout
  }

  async #start(): Promise<void> {
    const { code, nodeFlags } = this.build
    const words = [...nodeFlags, join(code, 'dist/src/main.js'), 'serve', '--json']
    this.#server = await startProgram(words, this.#environment())
    const engines = ['clickhouse', 'postgres'] as const
    const pids = await Promise.all(engines.map((engine) => enginePid(engine, this.#dataDir)))
    this.#enginePids = pids.filter((pid) => pid !== undefined)
  }

  /** Stops the server, and waits until the engines have exited, which takes two seconds. */
  async #stop(): Promise<void> {
    await this.#server?.stop('SIGTERM')
    for (let attempt = 0; attempt < 60 && (await enginePid('clickhouse', this.#dataDir)) !== undefined; attempt++) {
      await sleep(500)
    }
  }

  /** Waits until the engines are idle, as after merges, at most five minutes. */
  async #settle(): Promise<void> {
    const engines = () => this.cpu().engines
    for (let attempt = 0, before = engines() - idleMs; attempt < 600 && engines() - before >= idleMs; attempt++) {
      before = engines()
      await sleep(500)
    }
  }

  #url(): string {
    return this.#server ? urlOf(this.#server) : ''
  }

  #environment(): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env
    return { PATH, HOME, DATA_DIR: this.#dataDir, PORT: '0', LOG_LEVEL: 'error' }
  }
}
