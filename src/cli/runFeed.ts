import { setTimeout as pause } from 'node:timers/promises'
import { type Feed, openFeed, type Source } from '../feed/feed.ts'
import { openFeedStore } from '../feed/feedStore.ts'
import { openFeedMetrics } from '../feed/metrics.ts'
import { type KeepRejects, toRejectsFile } from '../feed/rejectsFile.ts'
import { buildFeedServer, type FeedServerParts } from '../feed/routes.ts'
import { originsOf } from '../feed/rowOrigins.ts'
import type { RowOrigin } from '../feed/rows.ts'
import { streamSource } from '../feed/stdin.ts'
import { openMetrics } from '../http/prometheusMetrics.ts'
import { type FeedAddress, readFeedAddress, SettingsError } from '../settings/settings.ts'
import { startTimeoutMs } from '../stores/open.ts'
import { acquireLease } from '../stores/postgres/lease.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import type { CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { listenForMetrics, namingSetting, openCommandLog } from './server.ts'

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
  const address = options.stdin ? undefined : readFeedAddress(settings)
  if (!options.stdin && !address) throw new SettingsError('FEED_PORT: set it, or use --stdin.')
  const { log } = openCommandLog(settings)
  const warn = (line: string) => log.warn(line)
  const print: KeepRejects = async (rows) => rows.map((row) => context.printStatus(JSON.stringify(row)))
  const path = settings.FEED_REJECTS
  const keepRejects = path !== undefined ? toRejectsFile(path, warn, print) : options.stdin && print
  const origin = originsOf(options.updatedAt === 'arrival', Date.now)
  /** Aborts when no row can be read or stored, or no result can be written. */
  const failure = new AbortController()
  let feed: Feed | undefined
  /** What is open; the last one is closed first. */
  const closers: (() => unknown)[] = []
  const metrics = settings.METRICS_PORT === 0 || options.stdin ? undefined : openMetrics()
  const feedMetrics = metrics && openFeedMetrics(metrics, () => feed?.queue)
  try {
    if (metrics) closers.push(await listenForMetrics(settings, metrics, log))
    // Before the lease: while another feed is active, the port responds with 503.
    const source: Source = address
      ? await openHttp(context, address, { origin, log, metrics })
      : openStandardInput(context, origin, failure)
    closers.push(() => source.close?.())
    const stores = await context.openStores(({ level, message }) => log[level](message), {
      waitMs: startTimeoutMs,
      signal: interrupted,
    })
    const lease = await acquireLease(stores.postgres, feedLease, {
      signal: interrupted,
      onWait: () => log.warn('Another feed is active; waiting for it to end.'),
      retry: { step: 'waiting for the lease', onMessage: warn, signal: interrupted },
    })
    closers.push(() => lease.release())
    const store = openFeedStore(stores, { onMessage: warn })
    closers.push(() => store.claims.close())
    const { FEED_FLUSH_MS: flushMs } = settings
    feed = openFeed({ postgres: stores.postgres, store, keepRejects, warn, metrics: feedMetrics, flushMs })
    const { queue } = feed
    const storing = queue.run()
    storing.catch((error: unknown) => failure.abort(error))
    const signal = AbortSignal.any([interrupted, failure.signal, lease.lost])
    await source.run(feed, signal).catch((error: unknown) => failure.abort(error))
    // What was read is stored. Rows of a source that has ended wait for other writers; after a signal or a failure they do not.
    queue.close(true)
    whenAborted(signal, () => queue.close())
    await storing
    for (const ended of [failure.signal, lease.lost]) ended.throwIfAborted()
    await source.drain?.()
  } catch (error) {
    // A signal during the start ends the command as a signal later does.
    if (!interrupted.aborted || error !== interrupted.reason) throw error
  } finally {
    for (const close of closers.reverse()) await close()
  }
  // The last lines are written after all rows were stored.
  failure.signal.throwIfAborted()
}

type HttpParts = Pick<FeedServerParts, 'origin' | 'log' | 'metrics'>

/** Opens the server of `POST /rows`. It responds with 503 unless a feed runs. */
async function openHttp(context: CommandContext, address: FeedAddress, parts: HttpParts): Promise<Source> {
  let feed: Feed | undefined
  const server = buildFeedServer({ ...parts, token: address.token, feed: () => feed })
  const url = await namingSetting('FEED_', address, () => server.listen(address))
  return {
    async run(active, signal) {
      feed = active
      context.print({ url }, `tributary feed takes rows at ${url}/rows.`)
      await new Promise<void>((resolve) => whenAborted(signal, resolve))
      feed = undefined
    },
    async close() {
      const late = pause(graceMs, undefined, { ref: false }).then(() => server.server.closeAllConnections())
      await Promise.race([server.close(), late])
    },
  }
}

/** @param failure is aborted when standard output cannot be written */
function openStandardInput({ interrupted, stdout }: CommandContext, origin: () => RowOrigin, failure: AbortController) {
  stdout.removeAllListeners('error').on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // Its reader has ended, as with `| head`: what was read is stored, as at a signal.
    if (code === 'EPIPE') return interrupted.aborted || process.kill(process.pid, 'SIGTERM')
    failure.abort(new CommandError(`standard output cannot be written: ${message}.`))
  })
  return streamSource(process.stdin, origin, (progress) => stdout.write(`${JSON.stringify(progress)}\n`))
}
