import { setTimeout as pause } from 'node:timers/promises'
import { ExpectedError } from '../expectedError.ts'

/** A consumer group delivers each entry until it is acknowledged. */
const group = 'tributary'
/** How long a read waits for new entries, milliseconds. */
const blockMs = 1_000
const rejectedMax = 100_000
const retryMs = 1_000

export interface StreamEntry {
  /** `1700000000000-0`: epoch milliseconds and a sequence number. */
  readonly id: string
  /** Its field `rows`; a text says why it has none. */
  readonly rows: Buffer | string
}

/** An entry of `<stream>:rejected`. */
export interface RejectedEntry {
  readonly id: string
  readonly reason: string
  readonly row: string
}

export type RedisStream = Awaited<ReturnType<typeof openRedisStream>>

/**
 * Connects to a stream and creates its consumer group. Every command waits while Redis is unavailable.
 * @param warn receives each change of availability, once, and a warning if Redis does not keep its entries
 * @param signal ends the opening and reads, which then throw its reason
 * @param ended ends acknowledgements
 */
export async function openRedisStream(
  url: string,
  stream: string,
  warn: (line: string) => void,
  { signal, ended }: { signal: AbortSignal; ended: AbortSignal },
) {
  const { Redis: Client } = await import('ioredis')
  const client = new Client(url, {
    connectionName: 'tributary-feed',
    connectTimeout: 2_000,
    // A read waits on its own connection for new entries; a longer silence is a lost connection.
    socketTimeout: 10 * blockMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => retryMs / 2,
  })
  const reader = client.duplicate()
  const from = ['GROUP', group, 'feed'] as const
  /** Says more than the errors of commands, which are not sent then: a wrong password, for example. */
  let connectionError: Error | undefined
  for (const one of [client, reader]) {
    one.on('error', (error) => {
      connectionError = error
    })
  }
  const opened = (one: typeof client) => new Promise((resolve) => one.once('ready', resolve).once('error', resolve))
  await Promise.all([client, reader].map(opened))
  let isUnavailable = false

  /** @param command may run several times */
  async function run<Reply>(command: () => Promise<Reply>, end = signal): Promise<Reply> {
    for (;;) {
      end.throwIfAborted()
      try {
        const reply = await command()
        if (isUnavailable) warn('Redis is available again.')
        isUnavailable = false
        return reply
      } catch (error) {
        const { message } = error as Error
        const code = codeOf(error)
        if (code !== undefined && !retriedCodes.includes(code))
          throw new ExpectedError(`FEED_REDIS_URL, FEED_STREAM: Redis rejects a command: ${message}`)
        if (!isUnavailable)
          warn(`Redis is unavailable; no rows are read from it: ${connectionError?.message || message}`)
        isUnavailable = true
      }
      await pause(retryMs, undefined, { signal: end }).catch(() => end.throwIfAborted())
    }
  }

  const createGroup = () =>
    run(async () => {
      try {
        // A Redis without free memory refuses to create even a group that exists.
        await client.xpending(stream, group)
      } catch (error) {
        ignoring('NOGROUP')(error)
        await client.xgroup('CREATE', stream, group, '0', 'MKSTREAM').catch(ignoring('BUSYGROUP'))
      }
    })
  const close = () => {
    client.disconnect()
    reader.disconnect()
  }
  try {
    await createGroup()
    // A managed Redis may forbid CONFIG.
    const [, appendOnly] = (await run(() => client.config('GET', 'appendonly').catch(() => []))) as string[]
    if (appendOnly === 'no') warn('Redis has appendonly no: it loses entries when it ends. Set appendonly yes.')
  } catch (error) {
    close()
    throw error
  }

  return {
    /**
     * Reads entries, oldest first.
     * @param after `>`: entries that were never delivered, for which it waits up to a second; an id: delivered and unacknowledged
     *   entries after it
     * @returns undefined if Redis may have delivered entries in a response that was lost: they are delivered and unacknowledged
     */
    read: async (after: string, count: number): Promise<StreamEntry[] | undefined> => {
      let isRepeated = false
      const found = await run(async () => {
        if (isRepeated && after === '>') return await reader.ping().then(() => undefined)
        isRepeated = true
        try {
          // Redis ignores BLOCK for entries that were delivered.
          return await reader.xreadgroupBuffer(...from, 'COUNT', count, 'BLOCK', blockMs, 'STREAMS', stream, after)
        } catch (error) {
          // The stream was deleted, before the read or while it waited.
          ignoring('NOGROUP', 'UNBLOCKED')(error)
          await createGroup()
          return null
        }
      })
      const reply = found as [Buffer, [Buffer, Buffer[] | null][]][] | null | undefined
      if (reply === undefined) return undefined
      return (reply?.[0]?.[1] ?? []).map(([id, fields]) => ({ id: id.toString(), rows: rowsOf(fields) }))
    },
    /**
     * Acknowledges entries and adds their rejected rows, both or neither, once. @param isTrimmed whether the entries are deleted too
     */
    acknowledge: async (ids: readonly string[], rejected: readonly RejectedEntry[], isTrimmed: boolean) => {
      const byId = new Map(ids.map((id): [string, string[]] => [id, []]))
      for (const { id, reason, row } of rejected) byId.get(id)?.push(reason, row)
      // First those without rejected rows: they need no memory, and free some if they are deleted.
      const ordered = [...byId].toSorted(([, one], [, other]) => Math.min(one.length, 1) - Math.min(other.length, 1))
      const words = ordered.map(([id, rows]) => [id, `${rows.length / 2}`, ...rows])
      const values = [group, isTrimmed ? '1' : '0', `${rejectedMax}`, ...words.flat()]
      // An array: rejected rows may be too many to be the arguments of one call.
      await run(() => client.call('EVAL', [acknowledging, '2', stream, `${stream}:rejected`, ...values]), ended)
    },
    /** @returns the number of delivered, unacknowledged entries */
    countPending: async () => Number(((await client.xpending(stream, group)) as unknown[])[0]),
    close,
  }
}

/**
 * Acknowledges entries one after the other, each with its rejected rows. An entry that is not pending was acknowledged by a call
 * whose response was lost. TRAP: a transaction is refused as a whole while Redis has no free memory, also if it would free some.
 */
const acknowledging = `
local at = 4
while ARGV[at] do
  local id, rows = ARGV[at], tonumber(ARGV[at + 1])
  at = at + 2
  if rows == 0 or #redis.call('XPENDING', KEYS[1], ARGV[1], id, id, 1) > 0 then
    for row = at, at + 2 * rows - 1, 2 do
      local fields = { 'id', id, 'reason', ARGV[row], 'row', ARGV[row + 1] }
      local added = redis.pcall('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', unpack(fields))
      if type(added) == 'table' then return added end
    end
    local acknowledged = redis.pcall('XACK', KEYS[1], ARGV[1], id)
    if type(acknowledged) == 'table' then return acknowledged end
    if ARGV[2] == '1' then redis.call('XDEL', KEYS[1], id) end
  end
  at = at + 2 * rows
end`

/** Redis is starting, reorganizing or read-only for a moment, or has no free memory, disk or replica. */
const retriedCodes = [
  ...['LOADING', 'BUSY', 'MASTERDOWN', 'READONLY', 'CLUSTERDOWN', 'TRYAGAIN'],
  ...['OOM', 'MISCONF', 'NOREPLICAS'],
]

/** @returns the error code of Redis, the first word of its error; undefined for an error of the connection */
function codeOf(error: unknown): string | undefined {
  const { name, message } = error as Error
  return name === 'ReplyError' ? message.split(' ')[0] : undefined
}

function ignoring(...codes: string[]) {
  return (error: unknown) => {
    if (!codes.includes(codeOf(error) ?? '')) throw error
  }
}

function rowsOf(fields: readonly Buffer[] | null): Buffer | string {
  if (!fields) return 'the entry was deleted before its rows were stored'
  const at = fields.findIndex((field, index) => index % 2 === 0 && field.toString() === 'rows')
  return (at < 0 ? undefined : fields[at + 1]) ?? 'the entry has no field rows'
}
