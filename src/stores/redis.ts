import { Redis as Client } from 'ioredis'

/** The Redis that several instances count in together. It holds nothing that outlives a minute. */
export interface Redis {
  /**
   * Counts one under a name; the first one begins the span after which the counter is gone.
   * @throws Error at once while Redis is away, else within `commandTimeoutMs`
   */
  add(name: string, spanMs: number): Promise<RedisCount>
  /** Tells a counter without counting. @throws Error like `add` */
  read(name: string): Promise<RedisCount>
  /** Whether it did not answer when it was last asked. */
  readonly isUnavailable: boolean
  close(): void
}

/** How often a name was counted and for how many milliseconds more; 0 and 0 for a name without a counter. */
export interface RedisCount {
  count: number
  endsInMs: number
}

/** Where a change of its state is told, once a change. */
export type RedisLog = (line: { level: 'info' | 'warn'; message: string }) => void

/** On its own network Redis answers in less than a millisecond; a request waits for it. */
const commandTimeoutMs = 250
/** After a failure it counts as away, and one command in this time finds out whether it still is. */
const retryMs = 500
/** A start waits for it this long, then goes on without. */
const startTimeoutMs = 5_000
const keyPrefix = 'tributary:'

/** INCR and its expiry are one step, so that no counter stays for ever. */
const addScript = `
  local count = redis.call('INCR', KEYS[1])
  if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  return {count, redis.call('PTTL', KEYS[1])}`
const lookScript = `
  return {tonumber(redis.call('GET', KEYS[1]) or 0), math.max(0, redis.call('PTTL', KEYS[1]))}`

/** The two scripts, as the driver names them. */
interface Scripts {
  addOne(key: string, spanMs: number): Promise<[number, number]>
  lookAt(key: string): Promise<[number, number]>
}

/** Connects, and goes on trying for as long as the process lives; waits a moment for the first time. */
export async function openRedis(url: string, log: RedisLog): Promise<Redis> {
  const client = new Client(url, {
    keyPrefix,
    connectionName: 'tributary',
    connectTimeout: 2_000,
    // A host that is gone without a word leaves a connection that looks well for a quarter of an hour.
    socketTimeout: 1_000,
    retryStrategy: (attempts) => Math.min(50 * attempts, retryMs),
    // What can't be sent now is decided by us now; a counter that is sent again would count twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Commands of concurrent requests travel together.
    enableAutoPipelining: true,
    scripts: { addOne: { lua: addScript, numberOfKeys: 1 }, lookAt: { lua: lookScript, numberOfKeys: 1 } },
  })
  const scripts = client as unknown as Scripts
  // Failures reach whoever sent a command; without a listener the driver prints them as well.
  client.on('error', () => {})
  let isAway = false
  let triedAtMs = Number.NEGATIVE_INFINITY

  async function ask(command: () => Promise<[number, number]>): Promise<RedisCount> {
    const nowMs = performance.now()
    if (isAway && nowMs - triedAtMs < retryMs) throw new Error('Redis is away.')
    triedAtMs = nowMs
    try {
      const [count, endsInMs] = await inTime(command())
      if (isAway) log({ level: 'info', message: 'Redis is back.' })
      isAway = false
      return { count, endsInMs }
    } catch (error) {
      if (!isAway) log({ level: 'warn', message: `Redis is away: ${(error as Error).message}` })
      isAway = true
      throw error
    }
  }

  await firstConnection(client)
  return {
    add: (name, spanMs) => ask(() => scripts.addOne(name, spanMs)),
    read: (name) => ask(() => scripts.lookAt(name)),
    get isUnavailable() {
      return isAway
    },
    close: () => client.disconnect(),
  }
}

/**
 * TRAP: a process that stood still for longer than that, on a machine with too much to do, finds its timer run out before
 * it has read what came meanwhile. So what has come is read first.
 */
function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`No answer within ${commandTimeoutMs} ms.`))
    const timer = setTimeout(() => setImmediate(late), commandTimeoutMs)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
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
