import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { buildApp } from '../app.ts'
import type { App } from '../http/context.ts'
import { type LogDestination, openLog, openLogDestination } from '../http/logging.ts'
import { openTelemetry, serveTelemetry, type Telemetry } from '../http/telemetry.ts'
import { type Settings, SettingsError } from '../settings.ts'
import { migrate } from '../stores/migrations/migrate.ts'
import { openStores, type StoreLog } from '../stores/open.ts'
import { openRedis } from '../stores/redis.ts'
import { startRecovery } from '../writer/repair/recoverAccounts.ts'
import type { CommandContext } from './context.ts'
import { clicksMax, demoDefaults } from './demo.ts'
import { fillAndWelcome, openDemoAccount } from './demoAccount.ts'
import { wholeNumberFrom } from './options.ts'

/** How long answers under way may take to finish once the server was asked to stop. */
const graceMs = 25_000

/** How long the end waits for the last lines of the log. */
const lastLineMs = 1_000

/** How long the end waits for a repair in progress; the next writer of the account ends what is still running. */
const recoveryGraceMs = 1_000

/** How long a start waits for the servers of both stores, as when all of them are started together. */
const startTimeoutMs = 60_000

/** `serve`: the API, until it is told to stop. */
export function addServeCommand(program: Command, context: CommandContext): void {
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
async function serve(context: CommandContext, demoClicks?: number): Promise<void> {
  const { settings } = context
  const destination = openLogDestination()
  const log = openLog(settings.LOG_LEVEL, destination)
  const say: StoreLog = ({ level, message }) => log[level](message)
  const ending = shutDownGracefully(log, destination)
  try {
    const stores = await openStores(settings, say, startTimeoutMs)
    ending.closeFirst(() => stores.close())
    await migrate(stores)
    const demoAccount = demoClicks && (await openDemoAccount(stores.postgres))
    const redis = settings.REDIS_URL === undefined ? undefined : await openRedis(settings.REDIS_URL, say)
    if (redis) ending.closeFirst(() => redis.close())
    const metrics = settings.METRICS_PORT === 0 ? undefined : openTelemetry()
    const app = await buildApp({ settings, stores, redis, now: Date.now, log, ...(metrics && { telemetry: metrics }) })
    const metricsServer = metrics && (await listenForMetrics(metrics, settings))
    if (metricsServer) ending.closeFirst(() => metricsServer.stop())
    const url = await listen(app, settings)
    const stopRecovery = startRecovery(stores, { info: (line) => log.info(line), warn: (line) => log.warn(line) })
    ending.closeFirst(async () => {
      const recovery = stopRecovery()
      await app.close()
      await Promise.race([recovery, sleep(recoveryGraceMs, undefined, { ref: false })])
    })
    if (demoAccount) {
      await fillAndWelcome(context, stores, demoAccount, { url, clicks: demoClicks })
    } else {
      const docs = `${url}/api/v1/docs`
      context.print({ url, docs }, `Tributary listens on ${url}; its documentation is at ${docs}.`)
    }
  } catch (error) {
    if (!ending.hasBegun) {
      await ending.close()
      throw error
    }
  }
  // The process ends from there.
  await new Promise<never>(() => {})
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
async function listenForMetrics(metrics: Telemetry, { METRICS_PORT }: Settings) {
  try {
    return await serveTelemetry(metrics, METRICS_PORT)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new SettingsError(`METRICS_PORT=${METRICS_PORT}: the port is taken.`)
    if (code === 'EACCES')
      throw new SettingsError(`METRICS_PORT=${METRICS_PORT}: this user may not listen on that port.`)
    throw error
  }
}

/** What a server does at its end. */
interface Shutdown {
  /** Whether a signal or a fatal error has come. */
  readonly hasBegun: boolean
  /** Adds something to be closed, before all that was added so far. */
  closeFirst(close: () => unknown): void
  /** Closes everything, for a start that has failed; signals are no longer its business. */
  close(): Promise<void>
}

/**
 * From now on a signal or a fatal error closes what was opened, then ends the process: 0 after a signal, 1 after an error,
 * after a second signal, or when closing takes too long. TRAP: the first process of a container is not ended by a signal
 * that it does not handle, so this comes before anything that takes long.
 */
function shutDownGracefully(log: Logger, destination: LogDestination): Shutdown {
  const closers: (() => unknown)[] = []
  let hasBegun = false
  const closeAll = async () => {
    for (const close of closers.splice(0)) await close()
  }
  const { uninstall } = closeWithGrace(
    { delay: graceMs, logger: log, skip: ignoredSignals },
    async ({ err, signal }) => {
      hasBegun = true
      if (err) log.fatal(err, 'a bug ends the server')
      else log.info(`${signal} received: finishing the answers under way`)
      await closeAll()
      log.info('stopped')
      // TRAP: flushSync() would overtake the line that is being written. What can't be written is nobody's to wait for, and
      // where the reader of a pipe has left, pino never says that it has ended.
      destination.end()
      const written = once(destination, 'close').catch(() => {})
      await Promise.race([written, sleep(lastLineMs, undefined, { ref: false })])
    },
  )
  return {
    get hasBegun() {
      return hasBegun
    },
    closeFirst: (close) => void closers.unshift(close),
    close: () => {
      uninstall()
      return closeAll()
    },
  }
}

/**
 * SIGHUP keeps what it was started with, so that nohup works. A handler of a processor fault would run for ever.
 * When nothing is left to do, the process ends anyway.
 */
const ignoredSignals: closeWithGrace.AllEvents[] = [
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
