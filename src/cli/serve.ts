import { once } from 'node:events'
import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import { type Logger, pino } from 'pino'
import { buildApp } from '../app.ts'
import { clicksMax, demoDefaults } from '../demo/command.ts'
import { fillAndWelcome, openDemoAccount } from '../demo/welcome.ts'
import { openLog } from '../gate/log.ts'
import { type Metrics, openMetrics, serveMetrics } from '../health/metrics.ts'
import type { App } from '../room.ts'
import { type Settings, SettingsError } from '../settings.ts'
import { migrate } from '../stores/migrate.ts'
import { openStores } from '../stores/open.ts'
import { openRedis, type Redis } from '../stores/redis.ts'
import { recoverAccounts } from '../writing/recoverAccounts.ts'
import type { Context } from './context.ts'
import { wholeNumberFrom } from './wholeNumber.ts'

/** How long answers under way may take to finish once the server was asked to stop. */
const graceMs = 25_000

/** How long a start waits for the servers of both stores, as when all of them are started together. */
const startPatienceMs = 60_000

/** `serve`: the API, until it is told to stop. */
export function addServeCommand(program: Command, context: Context): void {
  program
    .command('serve')
    .description('Bring both stores to the current schema and serve the API.')
    .option(
      '--demo [clicks]',
      `fill an empty store with a demo account of so many clicks (${demoDefaults.clicks}), and show a key and calls to try`,
      wholeNumberFrom(1, clicksMax),
    )
    .addHelpText(
      'after',
      '\nIt logs to standard error and stops on SIGINT or SIGTERM when the answers under way have left.\n\nExample:\n  PORT=8080 tributary serve',
    )
    .action(({ demo }: { demo?: number | true }) => serve(context, demo === true ? demoDefaults.clicks : demo))
}

/** @param demoClicks undefined: no demo */
async function serve(context: Context, demoClicks?: number): Promise<void> {
  const { settings } = context
  const destination = pino.destination({ fd: 2, sync: false })
  const log = openLog(settings.LOG_LEVEL, destination)
  const stores = await openStores(settings, ({ level, message }) => log[level](message), startPatienceMs)
  let redis: Redis | undefined
  let metricsServer: { stop(): void } | undefined
  try {
    await migrate(stores)
    const demoAccount = demoClicks && (await openDemoAccount(stores.postgres))
    if (settings.REDIS_URL) redis = await openRedis(settings.REDIS_URL, ({ level, message }) => log[level](message))
    const metrics = settings.METRICS_PORT === 0 ? undefined : openMetrics()
    const app = await buildApp({ settings, stores, redis, now: Date.now, log, ...(metrics && { metrics }) })
    metricsServer = metrics && (await listenForMetrics(metrics, settings))
    const url = await listen(app, settings)
    const stopping = new AbortController()
    const recovery = recoverAccounts(stores, { say: (line) => log.info(line), signal: stopping.signal }).catch(
      (error) => {
        if (!stopping.signal.aborted) log.error(error, 'days that an import left half done are not right yet')
      },
    )
    const stop = async () => {
      stopping.abort(new Error('The server stops.'))
      await app.close()
      await recovery
      metricsServer?.stop()
      redis?.close()
    }
    if (demoAccount) {
      await fillAndWelcome(context, stores, demoAccount, { url, clicks: demoClicks }).catch((error) =>
        stop().finally(() => Promise.reject(error)),
      )
    } else {
      const docs = `${url}/api/v1/docs`
      context.print({ url, docs }, `Tributary listens on ${url}; its documentation is at ${docs}.`)
    }
    await untilStopped(log, async () => {
      await stop()
      await stores.close()
      log.info('stopped')
      // TRAP: flushSync() would overtake the line that is being written.
      destination.end()
      await once(destination, 'close')
    })
  } catch (error) {
    metricsServer?.stop()
    redis?.close()
    await stores.close()
    throw error
  }
}

/** @throws SettingsError naming HOST or PORT when the address can't be had */
async function listen(app: App, { HOST, PORT }: Settings): Promise<string> {
  try {
    return await app.listen({ host: HOST, port: PORT, listenTextResolver: (address) => `listening on ${address}` })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new SettingsError(`PORT=${PORT}: the port is taken on ${HOST}.`)
    if (code === 'EACCES') throw new SettingsError(`PORT=${PORT}: this user may not listen on that port.`)
    if (code === 'EADDRNOTAVAIL') throw new SettingsError(`HOST=${HOST}: this machine does not have that address.`)
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') throw new SettingsError(`HOST=${HOST}: no such host.`)
    throw error
  }
}

/** @throws SettingsError naming METRICS_PORT when it can't be had */
async function listenForMetrics(metrics: Metrics, { METRICS_PORT }: Settings) {
  try {
    return await serveMetrics(metrics, METRICS_PORT)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new SettingsError(`METRICS_PORT=${METRICS_PORT}: the port is taken.`)
    if (code === 'EACCES')
      throw new SettingsError(`METRICS_PORT=${METRICS_PORT}: this user may not listen on that port.`)
    throw error
  }
}

/**
 * Waits for a signal or a fatal error, closes, and ends the process: 0 after a signal, 1 after an error, after a
 * second signal, or when closing takes too long.
 */
function untilStopped(log: Logger, close: () => Promise<void>): Promise<never> {
  return new Promise(() => {
    closeWithGrace({ delay: graceMs, logger: log, skip: leftAlone }, async ({ err, signal }) => {
      if (err) log.fatal(err, 'a bug ends the server')
      else log.info(`${signal} received: finishing the answers under way`)
      await close()
    })
  })
}

/**
 * SIGHUP keeps what it was started with, so that nohup works. A handler of a processor fault would run for ever.
 * When nothing is left to do, the process ends anyway.
 */
const leftAlone: closeWithGrace.AllEvents[] = [
  'SIGHUP',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'beforeExit',
]
