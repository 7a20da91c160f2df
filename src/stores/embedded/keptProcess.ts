import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EngineNotice, endMessage, type LogLine } from './protocol.ts'

export type Address = Extract<EngineNotice, { kind: 'ready' }>['address']

export interface KeptProcessOptions {
  /** For log lines, e.g. `ClickHouse`. */
  title: string
  /** The compiled program and its arguments. */
  entry: string
  args: string[]
  /** The engine answers at this address, for the first time or again. */
  ready: (address: Address) => void
  /** The first start since it was wanted came to nothing, and no further one is tried until it is wanted again. */
  failed: (message: string) => void
  log: (line: LogLine) => void
  /** What the process prints. */
  print: (text: string) => void
}

/** More deaths than this within the window, and the next start waits. */
const deathsMax = 5
const deathWindowMs = 30_000
const pauseMaxMs = 30_000
/** How long an engine may take to end in order before it is killed, which loses nothing either. */
const endPatienceMs = 10_000
/** Characters of its output that are kept to say why it ended. */
const printedMax = 4096

/** One engine process: started when wanted, started again when it dies, ended when nobody wants it any more. */
export class KeptProcess {
  readonly #options: KeptProcessOptions
  #address: Address | undefined
  #life: Promise<void> | undefined
  #ending = new AbortController()

  constructor(options: KeptProcessOptions) {
    this.#options = options
  }

  /** Where it answers now; undefined while it starts or does not run. */
  get address(): Address | undefined {
    return this.#address
  }

  /** Makes sure that it runs or starts; one that is just ending starts again afterwards. */
  want(): void {
    if (this.#life && !this.#ending.signal.aborted) return
    const previous = this.#life
    this.#ending = new AbortController()
    const life = this.#live(previous, this.#ending.signal).finally(() => {
      if (this.#life === life) this.#life = undefined
    })
    this.#life = life
  }

  /** Ends it in order and waits until it is gone. */
  async end(): Promise<void> {
    this.#ending.abort()
    // A newcomer must not be sent to one that is on its way out.
    this.#address = undefined
    await this.#life
  }

  async #live(previous: Promise<void> | undefined, ending: AbortSignal): Promise<void> {
    await previous
    const { title, ready, failed, log } = this.#options
    const deaths: number[] = []
    let everReady = false
    while (!ending.aborted) {
      const startedAt = performance.now()
      const outcome = await this.#runOnce(ending, (address) => {
        if (everReady) log({ level: 'info', message: `${title} answers again after ${secondsSince(startedAt)} s.` })
        everReady = true
        this.#address = address
        ready(address)
      })
      this.#address = undefined
      if (ending.aborted) return
      if (!everReady) {
        failed(`${title} did not start: ${outcome}.`)
        return
      }
      const now = performance.now()
      deaths.push(now)
      while (now - (deaths[0] ?? now) > deathWindowMs) deaths.shift()
      const pauseMs = deaths.length < deathsMax ? 0 : Math.min(1000 * 2 ** (deaths.length - deathsMax), pauseMaxMs)
      const when = pauseMs === 0 ? 'at once' : `in ${pauseMs / 1000} s`
      log({ level: 'error', message: `${title} ended unexpectedly (${outcome}); starting it again ${when}.` })
      await sleep(pauseMs, undefined, { signal: ending }).catch(() => {})
    }
  }

  /** @returns why it ended, without a full stop */
  #runOnce(ending: AbortSignal, ready: (address: Address) => void): Promise<string> {
    const { entry, args, print } = this.#options
    return new Promise((resolve) => {
      const child = fork(entry, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], cwd: '/', env: { TZ: 'UTC' } })
      let failure: string | undefined
      let printed = ''
      let started = false
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          print(text)
          printed = (printed + text).slice(-printedMax)
        })
      }
      child.on('message', (notice: EngineNotice) => {
        if (notice.kind === 'failed') failure = notice.message
        else {
          started = true
          printed = ''
          ready(notice.address)
        }
      })
      let patience: NodeJS.Timeout | undefined
      const end = () => {
        if (child.connected) child.send(endMessage, () => {})
        patience = setTimeout(() => child.kill('SIGKILL'), endPatienceMs)
      }
      ending.addEventListener('abort', end, { once: true })
      if (ending.aborted) end()
      const ended = (how: string) => {
        clearTimeout(patience)
        ending.removeEventListener('abort', end)
        const reason = failure ?? reasonIn(printed)
        resolve(reason && started ? `${how}: ${reason}` : (reason ?? how))
      }
      child.on('error', (error) => ended(error.message))
      child.on('close', (code, signal) => ended(signal ? `signal ${signal}` : `exit code ${code}`))
    })
  }
}

/** The line that says why, as far as one can tell: the last that speaks of an error. */
function reasonIn(printed: string): string | undefined {
  const line = printed.split('\n').findLast((text) => /error|exception/i.test(text))
  return line?.trim().replace(/\.$/, '')
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}
