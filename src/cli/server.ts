import { once } from 'node:events'
import { createServer, type ListenOptions } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { Logger } from 'pino'
import { warnOfExpiringKeys } from '../accounts/expiringKeys.ts'
import { buildApp } from '../app.ts'
import { type LogDestination, openLog, openLogDestination } from '../http/logging.ts'
import { openMetrics, serveMetrics } from '../http/prometheusMetrics.ts'
import { type Settings, SettingsError } from '../settings/settings.ts'
import { migrate } from '../stores/migrations/migrate.ts'
import { openStores, type StoreLog, startTimeoutMs } from '../stores/open.ts'
import { openRedis } from '../stores/redis.ts'
import { startRecovery } from '../writer/serverRecovery.ts'
import type { CommandContext } from './context.ts'
import { fillAndWelcome, openDemoAccount } from './demoAccount.ts'
import { startLiveDemo } from './demoLive.ts'
import { inText } from './logText.ts'
import { startRetention } from './retentionJob.ts'
import { shutDownGracefully } from './shutdown.ts'
import { describeCreated } from './storeLocation.ts'

/** Time for a running repair or removal to end at shutdown; the next writer of the account stops its remaining statements. */
const recoveryGraceMs = 1_000

/**
 * Serves the API until a signal arrives, which ends the process.
 * @param demo size of the demo, and whether it is fed with rows of now; undefined: no demo
 * @throws SettingsError, or what opening the stores throws
 */
export async function serve(context: CommandContext, demo?: { clicks: number; isLive: boolean }): Promise<void> {
  // The welcome of the demo has a link to the page.
  const settings: Settings = demo === undefined ? context.settings : { ...context.settings, EXPLORE: 'on' }
  const { log, destination } = openCommandLog(settings)
  const logStores: StoreLog = ({ level, message }) => log[level](message)
  const shutdown = shutDownGracefully(log, destination)
  try {
    const address = { host: settings.HOST, port: settings.PORT }
    // Before the stores, which would be created.
    await namingSetting('', address, () => assertFree(address))
    const stores = await openStores(settings, logStores, { waitMs: startTimeoutMs })
    shutdown.closeFirst(() => stores.close())
    const created = describeCreated(settings, await migrate(stores))
    if (created) log.info(created)
    const demoAccount = demo && (await openDemoAccount(stores.postgres))
    const redis = settings.REDIS_URL === undefined ? undefined : await openRedis(settings.REDIS_URL, logStores)
    if (redis) shutdown.closeFirst(() => redis.close())
    const metricsPort = settings.METRICS_PORT
    const metrics = metricsPort === 0 ? undefined : openMetrics()
    const app = await buildApp({ settings, stores, redis, now: Date.now, log, ...(metrics && { metrics }) })
    if (metrics) {
      const metricsAddress = { host: settings.METRICS_HOST, port: metricsPort }
      const { stop } = await namingSetting('METRICS_', metricsAddress, () => serveMetrics(metrics, metricsAddress))
      shutdown.closeFirst(stop)
      if (!/^(127\.|::1$|localhost$)/.test(settings.METRICS_HOST))
        log.warn(
          `METRICS_HOST=${settings.METRICS_HOST}: every client that reaches port ${metricsPort} reads the metrics without a key.`,
        )
    }
    const listenTextResolver = (url: string) => `listening on ${url}`
    const url = await namingSetting('', address, () => app.listen({ ...address, listenTextResolver }))
    shutdown.closeFirst(warnOfExpiringKeys(stores.postgres, (line) => log.warn(line), Date.now))
    const stopRecovery = startRecovery(stores, log)
    const stopRetention = startRetention(stores, log, Date.now)
    shutdown.closeFirst(async () => {
      const tasks = Promise.all([stopRecovery(), stopRetention()])
      await app.close()
      await Promise.race([tasks, sleep(recoveryGraceMs, undefined, { ref: false })])
    })
    if (demoAccount) {
      await fillAndWelcome(context, stores, demoAccount, { url, clicks: demo.clicks })
      if (demo.isLive) shutdown.closeFirst(startLiveDemo(stores, demoAccount, (line) => log.warn(line)))
    } else {
      const docs = `${url}/api/v1/docs`
      context.print({ url, docs }, `Tributary listens on ${url}; the documentation is at ${docs}.`)
    }
  } catch (error) {
    if (!shutdown.hasBegun) {
      await shutdown.close()
      throw error
    }
  }
  // The handlers of `shutDownGracefully` end the process.
  await new Promise<never>(() => {})
}

/** Opens the log of a command that runs until a signal arrives. */
export function openCommandLog({ LOG_FORMAT, LOG_LEVEL }: Settings): { destination: LogDestination; log: Logger } {
  const destination = openLogDestination()
  const isText = (LOG_FORMAT ?? (isatty(2) ? 'text' : 'json')) === 'text'
  return { destination, log: openLog(LOG_LEVEL, isText ? inText(destination) : destination) }
}

async function assertFree(address: ListenOptions): Promise<void> {
  const server = createServer().listen(address)
  await once(server, 'listening')
  await once(server.close(), 'close')
}

/**
 * Opens an address. @param prefix of the settings `HOST` and `PORT`
 * @throws SettingsError that names the setting if the address is not available
 */
export async function namingSetting<Result>(
  prefix: '' | 'METRICS_' | 'FEED_',
  { host, port }: ListenOptions,
  open: () => Promise<Result>,
): Promise<Result> {
  try {
    return await open()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new SettingsError(
        `${prefix}PORT=${port}: the port is already in use on ${host}; stop the other program, or set another ${prefix}PORT.`,
      )
    if (code === 'EACCES') throw new SettingsError(`${prefix}PORT=${port}: this user may not listen on this port.`)
    if (code === 'EADDRNOTAVAIL')
      throw new SettingsError(`${prefix}HOST=${host}: this machine does not have this address.`)
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') throw new SettingsError(`${prefix}HOST=${host}: no such host.`)
    throw error
  }
}
