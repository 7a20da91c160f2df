import { createInterface } from 'node:readline'
import { exitOf, start } from '../../cli/runCommand.ts'
import { freePort } from '../../kit/serverProcess.ts'
import { type Hold, openStoreProxies } from '../crashes/storeProxies.ts'
import { isChange, isLeaseExtension, ofClickHouse, ofPostgres } from '../crashes/verbKills.ts'
import type { FeedEngines } from './feedEngines.ts'

export const feedToken = 'the-token-of-a-test-which-is-long-enough'

/** A moment of a feed: at one of the statements that it sends, counted from 1 since `arm`. */
export interface Moment {
  number: number
  /** Whether only statements that change something count, such as inserts. */
  isChange: boolean
  holds: Hold['holds']
}

export type FeedProcess = Awaited<ReturnType<typeof startFeed>>

/**
 * Starts a feed behind proxies. It reads standard input or HTTP.
 * @param options.environment of this feed, in addition to its sources
 */
export async function startFeed(
  engines: FeedEngines,
  options: {
    isStdin?: boolean
    moment?: Moment
    environment?: Record<string, string>
  } = {},
) {
  const { isStdin = false, moment, environment = {} } = options
  const stores = await openStoreProxies(engines)
  const proxies = [...stores.nodes, stores.postgres]
  const prepared = new Map<string, string>()
  let left = Number.POSITIVE_INFINITY
  let reached: string | undefined
  const hold = (proxy: (typeof proxies)[number], name: string, read: (chunk: Buffer) => string[], isHttp = false) => {
    if (!moment) return new Promise<never>(() => {})
    const test = (text: string) => {
      for (const statement of read(Buffer.from(text, 'latin1'))) {
        if (reached !== undefined || !isCounted(statement, moment.isChange)) continue
        left -= 1
        if (left === 0) reached = `${name}: ${brief(statement)}`
        if (left === 0) return true
      }
      return false
    }
    const holds = moment.holds === 'body' && !isHttp ? 'request' : moment.holds
    return proxy.hold({ request: { test }, holds })
  }
  const held = Promise.race([
    ...stores.nodes.map((node) => hold(node, 'ClickHouse', ofClickHouse, true)),
    hold(stores.postgres, 'Postgres', (chunk) => ofPostgres(chunk, prepared).filter(isChange)),
  ]).then(() => `${moment?.holds} of ${reached}`)

  const port = isStdin ? 0 : await freePort()
  const child = start(['feed', ...(isStdin ? ['--stdin'] : [])], {
    ...stores.environment,
    LOG_LEVEL: 'warn',
    FEED_FLUSH_MS: '500',
    FEED_PORT: `${port}`,
    FEED_TOKEN: feedToken,
    ...environment,
  })
  engines.feeds.add(child)
  // A killed process reads no more.
  child.stdin.on('error', () => {})
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const exited = exitOf(child)
  return {
    child,
    port,
    lines,
    exited,
    held,
    /** Why it has ended: the exit code, or the signal. */
    get ending() {
      return child.exitCode ?? child.signalCode
    },
    log: () => log,
    /** Starts to count statements. */
    arm(): void {
      left = moment?.number ?? left
    },
    /** Forwards what is held. */
    release(): void {
      for (const proxy of proxies) proxy.release()
    },
    /** Ends the process by a signal, and waits for its end. @returns the exit code, null if the signal ended it */
    async end(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal)
      const code = await exited
      await stores.close()
      return code
    },
  }
}

/** Leases are acquired and extended by a clock. */
function isCounted(statement: string, isOnlyChange: boolean): boolean {
  return (
    (!isOnlyChange || isChange(statement)) &&
    !isLeaseExtension(statement) &&
    !/INSERT INTO leases \(name, owner, fence, expires_at\)|UPDATE leases SET owner/.test(statement)
  )
}

/** @returns what a statement changes, otherwise its beginning */
function brief(statement: string): string {
  const changes = statement.match(/\b(?:INSERT INTO|UPDATE|DELETE FROM) \w+/g)
  return changes?.join(', ') ?? statement.slice(0, 60)
}
