import { setTimeout as pause } from 'node:timers/promises'
import type { StoreLog } from './open.ts'
import { withDeadline } from './timing/deadline.ts'

/** The Redis in which several instances share counters. No counter lives longer than a minute. */
export type Redis = Awaited<ReturnType<typeof openRedis>>

/** In a local network Redis responds in less than a millisecond; a request waits for it. */
const timeoutDefaultMs = 250
/** After a failure Redis counts as unavailable, and one command per this interval checks it. */
const retryMs = 500
/** A start waits this long for the connection, then continues without it. */
const startTimeoutMs = 5_000
const keyPrefix = 'tributary:'

/** INCRBY and PEXPIRE are one atomic step, so every counter expires. */
const addScript = `
  local count = tonumber(redis.call('GET', KEYS[1]) or 0)
  if count + ARGV[2] > tonumber(ARGV[3]) then return {count, math.max(0, redis.call('PTTL', KEYS[1])), 0} end
  redis.call('INCRBY', KEYS[1], ARGV[2])
  if count == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  return {count + ARGV[2], redis.call('PTTL', KEYS[1]), 1}`

/**
 * Connects, waits up to 5 s for the first connection, and reconnects for as long as the process lives.
 * @param log receives each change of availability, once
 * @param timeoutMs longest wait for the response to a command; a connection without any response for four times as long is closed
 */
export async function openRedis(url: string, log: StoreLog, timeoutMs = timeoutDefaultMs) {
  // A server without Redis does not load the driver.
  const { Redis: Client } = await import('ioredis')
  const client = new Client(url, {
    keyPrefix,
    connectionName: 'tributary',
    connectTimeout: 2_000,
    // A host that vanishes without closing leaves a connection that seems open for 15 minutes.
    socketTimeout: 4 * timeoutMs,
    retryStrategy: (attempts) => Math.min(50 * attempts, retryMs),
    // A command that cannot be sent fails now: a repeated increment would count twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Commands of concurrent requests share a round trip.
    enableAutoPipelining: true,
    scripts: { addAmount: { lua: addScript, numberOfKeys: 1 } },
  })
  // The types of the driver do not have the method of the script.
  const scripts = client as unknown as { addAmount(key: string, ...values: number[]): Promise<[number, number, 0 | 1]> }
  // The sender of a command receives its error; without a listener the driver would print it too.
  client.on('error', () => {})
  let isUnavailable = false
  let triedAtMs = Number.NEGATIVE_INFINITY

  async function run<Reply>(command: () => Promise<Reply>): Promise<Reply> {
    const nowMs = performance.now()
    if (isUnavailable && nowMs - triedAtMs < retryMs) throw new Error('Redis is unavailable.')
    triedAtMs = nowMs
    try {
      const reply = await withDeadline(timeoutMs, () => new Error(`No response within ${timeoutMs} ms.`), command)
      if (isUnavailable) log({ level: 'info', message: 'Redis is available again.' })
      isUnavailable = false
      return reply
    } catch (error) {
      if (!isUnavailable) log({ level: 'warn', message: `Redis is unavailable: ${(error as Error).message}` })
      isUnavailable = true
      throw error
    }
  }

  const connected = new Promise((resolve) => client.once('ready', resolve))
  await Promise.race([connected, pause(startTimeoutMs, undefined, { ref: false })])
  return {
    /**
     * Adds to a counter, or leaves it unchanged if it would exceed `max`. The first call creates it; it expires after `spanMs`.
     * @param amount at least 1
     * @returns its value, and the milliseconds until it expires
     * @throws Error at once while Redis is unavailable, else within the time given to `openRedis`
     */
    async add(name: string, spanMs: number, amount = 1, max = Number.MAX_SAFE_INTEGER) {
      const [count, endsInMs, isAdded] = await run(() => scripts.addAmount(name, spanMs, amount, max))
      return { count, endsInMs, isAdded: isAdded === 1 }
    },
    /** Verifies that Redis responds. @throws Error like `add` */
    ping: () => run(() => client.ping()),
    /** Whether the last command failed. */
    get isUnavailable() {
      return isUnavailable
    },
    close: () => client.disconnect(),
  }
}
