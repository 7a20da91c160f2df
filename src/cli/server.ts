import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { warnOfExpiringKeys } from '../accounts/expiringKeys.ts'
import { buildApp } from '../app.ts'
import type { App } from '../http/context.ts'
import { openLog, openLogDestination } from '../http/logging.ts'
import { type Metrics, openMetrics, serveMetrics } from '../http/prometheusMetrics.ts'
import { type Settings, SettingsError } from '../settings.ts'
import { migrate } from '../stores/migrations/migrate.ts'
import { openStores, type StoreLog } from '../stores/open.ts'
import { openRedis } from '../stores/redis.ts'
import { startRecovery } from '../writer/serverRecovery.ts'
import type { CommandContext } from './context.ts'
import { fillAndWelcome, openDemoAccount } from './demoAccount.ts'
import { startRetention } from './retentionJob.ts'
import { shutDownGracefully } from './shutdown.ts'
import { describeCreated } from './storeLocation.ts'

/** Time for a running repair or removal to end at shutdown; the next writer of the account stops its remaining statements. */
const recoveryGraceMs = 1_000

/** Time for both databases to become available, for example if all servers start together. */
const startTimeoutMs = 60_000

/**
 * Serves the API until a signal arrives, which ends the process.
 * @param demoClicks size of the demo; undefined: no demo
 * @throws SettingsError, or what opening the stores throws
 */
export async function serve(context: CommandContext, demoClicks?: number): Promise<void> {
  // The welcome of the demo has a link to the page.
  const settings: Settings = demoClicks === undefined ? context.settings : { ...context.settings, EXPLORE: 'on' }
  const destination = openLogDestination()
  const log = openLog(settings.LOG_LEVEL, destination)
  const logStores: StoreLog = ({ level, message }) => log[level](message)
  const shutdown = shutDownGracefully(log, destination)
  try {
    // Before the stores, which would be created.
    await assertAddressIsFree(settings)
    const stores = await openStores(settings, logStores, startTimeoutMs)
    shutdown.closeFirst(() => stores.close())
    const created = describeCreated(settings, await migrate(stores))
    if (created) log.info(created)
    const demoAccount = demoClicks && (await openDemoAccount(stores.postgres))
    const redis = settings.REDIS_URL === undefined ? undefined : await openRedis(settings.REDIS_URL, logStores)
    if (redis) shutdown.closeFirst(() => redis.close())
    const metrics = settings.METRICS_PORT === 0 ? undefined : openMetrics()
    const app = await buildApp({ settings, stores, redis, now: Date.now, log, ...(metrics && { metrics }) })
    const metricsServer = metrics && (await listenForMetrics(metrics, settings))
    if (metricsServer) shutdown.closeFirst(() => metricsServer.stop())
    const url = await listen(app, settings)
    shutdown.closeFirst(warnOfExpiringKeys(stores.postgres, (line) => log.warn(line), Date.now))
    const lines = { info: (line: string) => log.info(line), warn: (line: string) => log.warn(line) }
    const stopRecovery = startRecovery(stores, lines)
    const stopRetention = startRetention(stores, lines, Date.now)
    shutdown.closeFirst(async () => {
      const tasks = Promise.all([stopRecovery(), stopRetention()])
      await app.close()
      await Promise.race([tasks, sleep(recoveryGraceMs, undefined, { ref: false })])
    })
    if (demoAccount) {
      await fillAndWelcome(context, stores, demoAccount, { url, clicks: demoClicks })
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

/** @throws SettingsError that names HOST or PORT if the address is not available */
async function assertAddressIsFree(settings: Settings): Promise<void> {
  const { HOST, PORT } = settings
  const server = createServer()
  await namingAddress(settings, async () => {
    await once(server.listen({ host: HOST, port: PORT }), 'listening')
  })
  await new Promise((resolve) => server.close(resolve))
}

/** @throws SettingsError that names HOST or PORT if the address is not available */
async function listen(app: App, settings: Settings): Promise<string> {
  const { HOST, PORT } = settings
  return await namingAddress(settings, () =>
    app.listen({ host: HOST, port: PORT, listenTextResolver: (address) => `listening on ${address}` }),
  )
}

async function namingAddress<Result>({ HOST, PORT }: Settings, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new SettingsError(
        `PORT=${PORT}: the port is already in use on ${HOST}; stop the other program, or set another PORT.`,
      )
    if (code === 'EACCES') throw new SettingsError(`PORT=${PORT}: this user may not listen on this port.`)
    if (code === 'EADDRNOTAVAIL') throw new SettingsError(`HOST=${HOST}: this machine does not have this address.`)
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') throw new SettingsError(`HOST=${HOST}: no such host.`)
    throw error
  }
}

/** @throws SettingsError that names METRICS_PORT if it is not available */
async function listenForMetrics(metrics: Metrics, { METRICS_PORT }: Settings) {
  try {
    return await serveMetrics(metrics, METRICS_PORT)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new SettingsError(`METRICS_PORT=${METRICS_PORT}: the port is already in use; set another METRICS_PORT.`)
    if (code === 'EACCES')
      throw new SettingsError(`METRICS_PORT=${METRICS_PORT}: this user may not listen on this port.`)
    throw error
  }
}
