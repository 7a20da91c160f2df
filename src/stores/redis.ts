import { Redis as Client } from 'ioredis'

/** The Redis in which several instances share counters. No counter lives longer than a minute. */
export interface Redis {
  /**
   * Adds one to a counter. The first call creates it; it expires after `spanMs`.
   * @throws Error at once while Redis is unavailable, else within `commandTimeoutMs`
   */
  add(name: string, spanMs: number): Promise<RedisCount>
  /** Reads a counter. @throws Error like `add` */
  read(name: string): Promise<RedisCount>
  /** Whether the last command failed. */
  readonly isUnavailable: boolean
  close(): void
}

/** The value of a counter and the milliseconds until it expires; 0 and 0 when there is none. */
export interface RedisCount {
  count: number
  endsInMs: number
}

/** Logs each change of availability, once. */
export type RedisLog = (line: { level: 'info' | 'warn'; message: string }) => void

/** In a local network Redis responds in less than a millisecond; a request waits for it. */
const commandTimeoutMs = 250
/** After a failure Redis counts as unavailable, and one command per this interval checks it. */
const retryMs = 500
/** A start waits this long for the connection, then continues without it. */
const startTimeoutMs = 5_000
const keyPrefix = 'tributary:'

/** INCR and PEXPIRE are one atomic step, so every counter expires. */
const addScript = `
  local count = redis.call('INCR', KEYS[1])
  if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  return {count, redis.call('PTTL', KEYS[1])}`
const readScript = `
  return {tonumber(redis.call('GET', KEYS[1]) or 0), math.max(0, redis.call('PTTL', KEYS[1]))}`

/** The scripts, as methods of the driver. */
interface Scripts {
  addOne(key: string, spanMs: number): Promise<[number, number]>
  readOne(key: string): Promise<[number, number]>
}

/** Connects, waits up to 5 s for the first connection, and reconnects for as long as the process lives. */
export async function openRedis(url: string, log: RedisLog): Promise<Redis> {
  const client = new Client(url, {
    keyPrefix,
    connectionName: 'tributary',
    connectTimeout: 2_000,
    // A host that vanishes without closing leaves a connection that seems open for 15 minutes.
    socketTimeout: 1_000,
    retryStrategy: (attempts) => Math.min(50 * attempts, retryMs),
    // A command that cannot be sent fails now: a repeated increment would count twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Commands of concurrent requests share a round trip.
    enableAutoPipelining: true,
    scripts: { addOne: { lua: addScript, numberOfKeys: 1 }, readOne: { lua: readScript, numberOfKeys: 1 } },
  })
  const scripts = client as unknown as Scripts
  // The sender of a command receives its error; without a listener the driver would print it too.
  client.on('error', () => {})
  let isUnavailable = false
  let triedAtMs = Number.NEGATIVE_INFINITY

  async function run(command: () => Promise<[number, number]>): Promise<RedisCount> {
    const nowMs = performance.now()
    if (isUnavailable && nowMs - triedAtMs < retryMs) throw new Error('Redis is unavailable.')
    triedAtMs = nowMs
    try {
      const [count, endsInMs] = await withTimeout(command())
      if (isUnavailable) log({ level: 'info', message: 'Redis is available again.' })
      isUnavailable = false
      return { count, endsInMs }
    } catch (error) {
      if (!isUnavailable) log({ level: 'warn', message: `Redis is unavailable: ${(error as Error).message}` })
      isUnavailable = true
      throw error
    }
  }

  await firstConnection(client)
  return {
    add: (name, spanMs) => run(() => scripts.addOne(name, spanMs)),
    read: (name) => run(() => scripts.readOne(name)),
    get isUnavailable() {
      return isUnavailable
    },
    close: () => client.disconnect(),
  }
}

/**
 * TRAP: in a process that was suspended for longer than the timeout, the timer fires before received data has been read.
 * setImmediate lets the data be read first.
 */
function withTimeout<Result>(result: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`No response within ${commandTimeoutMs} ms.`))
    const timer = setTimeout(() => setImmediate(late), commandTimeoutMs)
    result.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function firstConnection(client: Client): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, startTimeoutMs)
    client.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
