import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineNotice, EngineOrder, LogLine } from './protocol.ts'

export type Address = Extract<EngineNotice, { kind: 'ready' }>['address']

export interface EngineProcessOptions {
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

/** Tries of a first start: a port that was free a moment ago may be taken, so a second one is made. */
const startsMax = 2
/** An engine that died this soon died early; from so many early deaths in a row on, the next start waits longer and longer. */
const earlyMs = 30_000
const earlyExitsMax = 5
const pauseMaxMs = 30_000
/** How long an engine may take to end in order before it is killed, which loses nothing either. */
const stopTimeoutMs = 10_000
/** A statement that never ends, in an engine that knows no time limit, would block every client for ever. */
const silenceTimeoutMs = 60_000
const watchEveryMs = 10_000
/** Characters of its output that are kept to say why it ended. */
const printedMax = 4096

/** One engine process: started when wanted, started again when it dies, ended when nobody wants it any more. */
export class EngineProcess {
  readonly #options: EngineProcessOptions
  #address: Address | undefined
  #running: Promise<void> | undefined
  #ending = new AbortController()

  constructor(options: EngineProcessOptions) {
    this.#options = options
  }

  /** Where it answers now; undefined while it starts or does not run. */
  get address(): Address | undefined {
    return this.#address
  }

  /** Makes sure that it runs or starts; one that is just ending starts again afterwards. */
  start(): void {
    if (this.#running && !this.#ending.signal.aborted) return
    const previous = this.#running
    this.#ending = new AbortController()
    const life = this.#superviseLoop(previous, this.#ending.signal).finally(() => {
      if (this.#running === life) this.#running = undefined
    })
    this.#running = life
  }

  /** Ends it in order and waits until it is gone. */
  async end(): Promise<void> {
    this.#ending.abort()
    // A newcomer must not be sent to one that is on its way out.
    this.#address = undefined
    await this.#running
  }

  async #superviseLoop(previous: Promise<void> | undefined, ending: AbortSignal): Promise<void> {
    await previous
    const { title, ready, failed, log } = this.#options
    let everReady = false
    let startsInVain = 0
    let earlyDeaths = 0
    while (!ending.aborted) {
      const startedAt = performance.now()
      const outcome = await runOnce(this.#options, ending, (address) => {
        if (everReady) log({ level: 'info', message: `${title} answers again after ${secondsSince(startedAt)} s.` })
        everReady = true
        this.#address = address
        ready(address)
      })
      this.#address = undefined
      if (ending.aborted) return
      if (!everReady) {
        startsInVain += 1
        if (!outcome.refused && startsInVain < startsMax) continue
        failed(`${title} did not start: ${outcome.reason}.`)
        return
      }
      earlyDeaths = performance.now() - startedAt > earlyMs ? 1 : earlyDeaths + 1
      const pauseMs = earlyDeaths < earlyExitsMax ? 0 : Math.min(1000 * 2 ** (earlyDeaths - earlyExitsMax), pauseMaxMs)
      const when = pauseMs === 0 ? 'at once' : `in ${pauseMs / 1000} s`
      log({ level: 'error', message: `${title} ended unexpectedly (${outcome.reason}); starting it again ${when}.` })
      await sleep(pauseMs, undefined, { signal: ending }).catch(() => {})
    }
  }
}

interface Outcome {
  /** Why it ended, without a full stop. */
  reason: string
  /** Whether it said itself that it cannot start, so that another try is in vain. */
  refused: boolean
}

/** The life of one process, from its start to its end. */
function runOnce(
  options: EngineProcessOptions,
  ending: AbortSignal,
  ready: (address: Address) => void,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = fork(options.entry, options.args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      cwd: '/',
      env: { TZ: 'UTC' },
    })
    const order = (message: EngineOrder) => {
      if (child.connected) child.send(message, () => {})
    }
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        options.print(text)
        printed = (printed + text).slice(-printedMax)
      })
    }

    let started = false
    let refusal: string | undefined
    let heardAt = performance.now()
    child.on('message', (notice: EngineNotice) => {
      heardAt = performance.now()
      if (notice.kind === 'failed') refusal = notice.message
      if (notice.kind !== 'ready' || ending.aborted) return
      started = true
      printed = ''
      ready(notice.address)
    })
    let silent: string | undefined
    const watch = setInterval(() => {
      if (!started) return
      if (performance.now() - heardAt > silenceTimeoutMs) {
        silent = `no sign of life for ${silenceTimeoutMs / 1000} s`
        child.kill('SIGKILL')
      }
      order({ kind: 'sayAlive' })
    }, watchEveryMs)

    let patience: NodeJS.Timeout | undefined
    const end = () => {
      order({ kind: 'end' })
      patience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    }
    ending.addEventListener('abort', end, { once: true })
    if (ending.aborted) end()

    const ended = (how: string) => {
      clearTimeout(patience)
      clearInterval(watch)
      ending.removeEventListener('abort', end)
      const reason = refusal ?? silent ?? reasonIn(printed)
      resolve({ reason: reason && started ? `${how}: ${reason}` : (reason ?? how), refused: refusal !== undefined })
    }
    child.on('error', (error) => ended(error.message))
    child.on('close', (code, signal) => ended(signal ? `signal ${signal}` : `exit code ${code}`))
  })
}

/** The line that says why, as far as one can tell: the last that speaks of an error. */
function reasonIn(printed: string): string | undefined {
  const line = printed.split('\n').findLast((text) => /error|exception/i.test(text))
  return line?.trim().replace(/\.$/, '')
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}
