import { once } from 'node:events'
import { createServer, type ListenOptions } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { Logger } from 'pino'
import { warnOfExpiringKeys } from '../accounts/expiringKeys.ts'
import { buildApp } from '../app.ts'
import { causeOf } from '../expectedError.ts'
import { type LogDestination, openLog, openLogDestination } from '../http/logging.ts'
import { type Metrics, openMetrics, serveMetrics } from '../http/prometheusMetrics.ts'
import { type Settings, SettingsError } from '../settings/settings.ts'
import { type StoreLog, startTimeoutMs } from '../stores/open.ts'
import { openRedis } from '../stores/redis.ts'
import { startRecovery } from '../writer/serverRecovery.ts'
import type { CommandContext } from './context.ts'
import { fillAndWelcome, openDemoAccount } from './demoAccount.ts'
import { startLiveDemo } from './demoLive.ts'
import { inText } from './logText.ts'
import { startRetention } from './retentionJob.ts'
import { shutDownGracefully } from './shutdown.ts'

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
    shutdown.closeFirst(() => context.close())
    const stores = await context.openStores(logStores, { waitMs: startTimeoutMs }, (line) => log.info(line))
    const demoAccount = demo && (await openDemoAccount(stores.postgres))
    const redis = settings.REDIS_URL === undefined ? undefined : await openRedis(settings.REDIS_URL, logStores)
    if (redis) shutdown.closeFirst(() => redis.close())
    const metrics = settings.METRICS_PORT === 0 ? undefined : openMetrics()
    const app = await buildApp({ settings, stores, redis, now: Date.now, log, ...(metrics && { metrics }) })
    if (metrics) shutdown.closeFirst(await listenForMetrics(settings, metrics, log))
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
      await fillAndWelcome(context, demoAccount, url, demo.clicks)
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

/** Serves the metrics of a process on their own address. @returns function that stops it @throws as `namingSetting` */
export async function listenForMetrics(settings: Settings, metrics: Metrics, log: Logger): Promise<() => void> {
  const { METRICS_HOST: host, METRICS_PORT: port } = settings
  const { stop } = await namingSetting('METRICS_', { host, port }, () => serveMetrics(metrics, { host, port }))
  if (!/^(127\.|::1$|localhost$)/.test(host))
    log.warn(`METRICS_HOST=${host}: every client that reaches port ${port} reads the metrics without a key.`)
  return stop
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
) {
  try {
    return await open()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new SettingsError(`${prefix}PORT=${port}: the port is already in use on ${host}; set another one.`)
    if (syscall === undefined) throw error
    throw new SettingsError(`${prefix}HOST=${host}, ${prefix}PORT=${port}: ${causeOf(error)}.`)
  }
}
