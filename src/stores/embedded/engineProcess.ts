import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { whenAborted } from '../timing/whenAborted.ts'
import type { Address, EngineNotice, LogLine } from './protocol.ts'

export interface EngineProcessOptions {
  /** For log lines, e.g. `ClickHouse`. */
  title: string
  entry: string
  args: string[]
  /** The engine is ready at this address, at the first start or after a restart. */
  ready: (address: Address) => void
  /** The first start failed; the next attempt follows the next call of `start`. */
  failed: (message: string) => void
  log: (line: LogLine) => void
  print: (text: string) => void
}

/** An exit within this time is early; after `earlyExitsMax` early exits in a row the pause before each restart doubles. */
const earlyMs = 30_000
const earlyExitsMax = 5
const pauseMaxMs = 30_000
/** Time for an orderly end before the engine is killed, which loses no data either. */
const stopTimeoutMs = 10_000
/** Characters of its output that are searched for the reason of its end. */
const printedMax = 4096

/** One engine process: started on demand, restarted when it exits, ended on request. */
export class EngineProcess {
  readonly #options: EngineProcessOptions
  /** Its present address; undefined while it starts or does not run. */
  address: Address | undefined
  #running: Promise<void> | undefined
  readonly #ending = new AbortController()

  constructor(options: EngineProcessOptions) {
    this.#options = options
  }

  /** Starts it unless it runs. */
  start(): void {
    this.#running ??= this.#superviseLoop(this.#ending.signal).finally(() => {
      this.#running = undefined
    })
  }

  /** Ends it in order, for good, and waits for its exit. */
  async end(): Promise<void> {
    this.#ending.abort()
    // A client that has just connected must not receive the address of an engine that is ending.
    this.address = undefined
    await this.#running
  }

  async #superviseLoop(ending: AbortSignal): Promise<void> {
    const { title, ready, failed, log } = this.#options
    let wasReady = false
    let earlyExits = 0
    while (!ending.aborted) {
      const startedAt = performance.now()
      const reason = await runOnce(this.#options, ending, (address) => {
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
        if (wasReady) log({ level: 'info', message: `${title} is ready again after ${seconds} s.` })
        wasReady = true
        this.address = address
        ready(address)
      })
      this.address = undefined
      if (ending.aborted) return
      if (!wasReady) {
        failed(`${title} did not start: ${reason}.`)
        return
      }
      earlyExits = performance.now() - startedAt > earlyMs ? 1 : earlyExits + 1
      const pauseMs = earlyExits < earlyExitsMax ? 0 : Math.min(1000 * 2 ** (earlyExits - earlyExitsMax), pauseMaxMs)
      const when = pauseMs === 0 ? 'at once' : `in ${pauseMs / 1000} s`
      log({ level: 'error', message: `${title} ended unexpectedly (${reason}); restarting ${when}.` })
      await sleep(pauseMs, undefined, { signal: ending }).catch(() => {})
    }
  }
}

/** @returns why it ended, without a full stop */
function runOnce(options: EngineProcessOptions, ending: AbortSignal, ready: (address: Address) => void) {
  return new Promise<string>((resolve) => {
    const child = fork(options.entry, options.args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      cwd: '/',
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        options.print(text)
        printed = (printed + text).slice(-printedMax)
      })
    }

    let started = false
    let failure: string | undefined
    child.on('message', (notice: EngineNotice) => {
      if (notice.kind === 'failed') failure = notice.message
      if (notice.kind !== 'ready' || ending.aborted) return
      started = true
      printed = ''
      ready(notice.address)
    })

    let killTimer: NodeJS.Timeout | undefined
    const end = () => {
      child.kill('SIGTERM')
      killTimer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    }
    const removeListener = whenAborted(ending, end)

    const ended = (how: string) => {
      clearTimeout(killTimer)
      removeListener()
      const reason = failure ?? reasonIn(printed)
      resolve(reason && started ? `${how}: ${reason}` : (reason ?? how))
    }
    child.on('error', (error) => ended(error.message))
    child.on('close', (code, signal) => ended(signal ? `signal ${signal}` : `exit code ${code}`))
  })
}

/** The probable reason: the last line with an error. */
function reasonIn(printed: string): string | undefined {
  const line = printed.split('\n').findLast((text) => /error|exception/i.test(text))
  return line?.trim().replace(/\.$/, '')
}
