import { setTimeout as pause } from 'node:timers/promises'
import { Feed } from '../feed/feed.ts'
import { FeedStore } from '../feed/feedStore.ts'
import { openFeedMetrics } from '../feed/metrics.ts'
import { type KeepRejects, toRejectsFile } from '../feed/rejectsFile.ts'
import { buildFeedServer } from '../feed/routes.ts'
import { originsOf } from '../feed/rowOrigins.ts'
import { feedStream } from '../feed/stdin.ts'
import { openMetrics, serveMetrics } from '../http/prometheusMetrics.ts'
import { readFeedAddress, SettingsError } from '../settings.ts'
import { startTimeoutMs } from '../stores/open.ts'
import { acquireLease } from '../stores/postgres/lease.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import type { CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { namingSetting, openCommandLog } from './server.ts'

export interface FeedOptions {
  /** Whether only standard input is read. */
  stdin?: true
  updatedAt?: 'arrival'
}

/** Held by the one feed that stores rows. */
const feedLease = 'feed'

/** Time for the last responses, milliseconds. */
const graceMs = 5_000

/**
 * Stores rows from HTTP, or from standard input, until it ends or a signal arrives.
 * @throws SettingsError; LeaseLost; the error of a source
 */
export async function runFeed(context: CommandContext, options: FeedOptions): Promise<void> {
  const { settings, interrupted } = context
  const http = options.stdin ? undefined : readFeedAddress(settings)
  if (!options.stdin && !http) throw new SettingsError('FEED_PORT: set it, or use --stdin.')
  const { log } = openCommandLog(settings)
  const warn = (line: string) => log.warn(line)
  const print: KeepRejects = async (rows) => rows.map((row) => context.printStatus(JSON.stringify(row)))
  const path = settings.FEED_REJECTS
  const keepRejects = path !== undefined ? toRejectsFile(path, warn, print) : options.stdin && print
  let feed: Feed | undefined
  let outputError: CommandError | undefined
  const closers: (() => unknown)[] = []
  try {
    const metrics = settings.METRICS_PORT === 0 || options.stdin ? undefined : openMetrics()
    const feedMetrics = metrics && openFeedMetrics(metrics, () => feed?.queue)
    if (metrics) {
      const address = { host: settings.METRICS_HOST, port: settings.METRICS_PORT }
      const { stop } = await namingSetting('METRICS_', address, () => serveMetrics(metrics, address))
      closers.push(stop)
    }
    const origin = originsOf(options.updatedAt === 'arrival', Date.now)
    let url: string | undefined
    if (http) {
      // Before the lease: while another feed is active, this port responds with 503.
      const server = buildFeedServer({ token: http.token, feed: () => feed, origin, log, metrics })
      url = await namingSetting('FEED_', http, () => server.listen(http))
      closers.push(() => Promise.race([server.close(), grace().then(() => server.server.closeAllConnections())]))
    }
    const stores = await context.openStores(({ level, message }) => log[level](message), {
      waitMs: startTimeoutMs,
      signal: interrupted,
    })
    const lease = await acquireLease(stores.postgres, feedLease, {
      signal: interrupted,
      onWait: () => log.warn('Another feed is active; waiting for it to end.'),
      retry: { step: 'waiting for the lease', onMessage: warn, signal: interrupted },
    })
    const store = new FeedStore(stores, { onMessage: warn })
    closers.push(
      () => store.claims.close(),
      () => lease.release(),
    )
    const { FEED_FLUSH_MS: flushMs } = settings
    const active = new Feed({ postgres: stores.postgres, store, keepRejects, warn, metrics: feedMetrics, flushMs })
    feed = active
    if (url !== undefined) context.print({ url }, `tributary feed takes rows at ${url}/rows.`)
    const storing = active.queue.run()
    // After a failure of standard input the rows that were read are stored, before the accounts are released.
    closers.unshift(() => {
      active.queue.close()
      return storing.catch(() => {})
    })
    const failure = new AbortController()
    whenAborted(lease.lost, () => failure.abort(lease.lost.reason))
    storing.catch((error: unknown) => failure.abort(error))
    const failed = aborted(failure.signal).then(() => Promise.reject(failure.signal.reason))
    // The races below throw it; this handler only prevents an unhandled rejection between them.
    failed.catch(() => {})
    const signal = AbortSignal.any([interrupted, failure.signal])
    /** Resolves, when the source has ended or the signal has aborted, with a function that awaits the results. */
    const openSource = async (): Promise<() => Promise<unknown>> => {
      if (!options.stdin) return aborted(signal).then(() => async () => {})
      context.stdout.removeAllListeners('error').on('error', ({ code, message }: NodeJS.ErrnoException) => {
        // Its reader has ended, as with `| head`: what was read is stored, as at a signal.
        if (code === 'EPIPE') return interrupted.aborted || process.kill(process.pid, 'SIGTERM')
        outputError = new CommandError(`standard output cannot be written: ${message}.`)
        failure.abort(outputError)
      })
      const onProgress = (state: object) => context.stdout.write(`${JSON.stringify(state)}\n`)
      return await feedStream(active, process.stdin, { origin, signal, onProgress })
    }
    const drain = await Promise.race([openSource(), failed])
    feed = undefined
    // Rows of standard input that has ended wait for other writers; nothing waits for them after a signal.
    active.queue.close(true)
    whenAborted(interrupted, () => active.queue.close())
    await Promise.race([storing, failed])
    await drain()
  } catch (error) {
    // A signal during the start ends the command as a signal later does.
    if (!interrupted.aborted || error !== interrupted.reason) throw error
  } finally {
    feed = undefined
    for (const close of closers) await close()
  }
  // Of the last lines, after all rows were stored.
  if (outputError) throw outputError
}

const grace = () => pause(graceMs, undefined, { ref: false })

const aborted = (signal: AbortSignal): Promise<void> => new Promise((resolve) => whenAborted(signal, resolve))
