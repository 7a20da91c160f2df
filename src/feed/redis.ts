import { createHash } from 'node:crypto'
import { splitBlock } from '../import/parsers/lines.ts'
import { rowTables } from '../query/attributes.ts'
import { storableTimes } from '../stores/clickhouse/sql.ts'
import type { RedisStream, RejectedEntry, StreamEntry } from '../stores/redisStream.ts'
import { type Feed, rejectsOf } from './feed.ts'
import type { FeedRow, RejectedRow, RowOrigin } from './rows.ts'

/** Reading stops while so many rows wait. */
const rowsMax = 50_000
const entriesMax = 1_000
/** Bytes of the entries of one read; their number follows from the size of the entries of the read before. */
const readBytes = 4 << 20

/** An entry that was read, and its rows. */
interface Delivered {
  id: string
  read: (FeedRow | RejectedRow)[]
}

/**
 * The account of metadata. Of two rows with one id the row that is stored last counts, so entries with metadata of an account keep their
 * order, also when they wait for other accounts.
 */
const metadataOf = (row: FeedRow | RejectedRow): string[] =>
  'accountId' in row && !(row.resource === 'pixel-events' || rowTables.some((table) => table === row.resource))
    ? [`${row.accountId} metadata`]
    : []

const isDeferred = (row: FeedRow | RejectedRow, deferred: ReadonlySet<string>) =>
  'accountId' in row && [row.accountId, ...metadataOf(row)].some((name) => deferred.has(name))

/**
 * Stores the rows of a stream until the signal aborts; the caller then closes the queue. An entry is acknowledged when each of its rows
 * has its final result. Entries with a row of an account that another writer has stay pending in Redis; they are read again, before
 * new entries, when the account is free.
 * @returns function that resolves when the results of all rows are acknowledged
 * @param stream its name decides between rows of one millisecond, so it is a part of their `importFile`
 */
export async function feedRedis(
  feed: Feed,
  redis: RedisStream,
  { stream, isTrimmed, signal }: { stream: string; isTrimmed: boolean; signal: AbortSignal },
): Promise<() => Promise<unknown>> {
  const importFile = createHash('sha256').update(`redis ${stream}`).digest('hex').slice(0, 16)
  /** Accounts, and metadata of accounts, with entries that wait in Redis. */
  const deferred = new Set<string>()
  const storing = new Set<Promise<void>>()
  let failure: unknown
  /** Id after which pending entries are read; undefined: new entries are read. */
  let after: string | undefined = '0'
  /** Whether pending entries are to be read again. */
  let isDue = false
  let count = 10
  feed.queue.onFree = (accountId) => {
    if (deferred.has(accountId)) isDue = true
  }
  const startToStore = (delivered: readonly Delivered[]) => {
    const stored: Promise<void> = storeDelivered(delivered)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => storing.delete(stored))
    storing.add(stored)
  }
  const storeDelivered = async (delivered: readonly Delivered[]) => {
    const added = delivered.map(({ id, read }) => {
      return { id, metadata: read.flatMap(metadataOf), batch: feed.queue.add(read, 0) }
    })
    const done: string[] = []
    const rejected: RejectedEntry[] = []
    for (const { id, metadata, batch } of added) {
      await batch.done
      let isWaiting = metadata.some((name) => deferred.has(name))
      for (const [index, row] of batch.rows.entries()) {
        if (!row || !('accountId' in row) || batch.results[index]?.result !== 'retry') continue
        isWaiting = true
        deferred.add(row.accountId)
        // It may be free since the row got its result.
        if (!feed.queue.isWaiting(row.accountId)) isDue = true
      }
      if (isWaiting) {
        for (const name of metadata) deferred.add(name)
        continue
      }
      done.push(id)
      // They may be too many to be the arguments of one call.
      for (const reject of rejectsOf(batch)) rejected.push({ id, ...reject })
    }
    if (done.length > 0) await redis.acknowledge(done, rejected, isTrimmed)
    for (const { batch } of added) feed.queue.forget(batch)
  }
  try {
    while (!signal.aborted) {
      if (failure) throw failure
      await feed.queue.hasRoom(rowsMax, signal)
      if (isDue && after === undefined) {
        // Entries that are being stored are pending too.
        await Promise.all(storing)
        isDue = false
        deferred.clear()
        after = '0'
      }
      const isNew = after === undefined
      const entries = await redis.read(after ?? '>', count)
      if (!entries) {
        isDue = true
        continue
      }
      if (!isNew) {
        after = entries.at(-1)?.id
        // New entries are read when it is known which accounts have pending ones.
        if (after === undefined) await Promise.all(storing)
      }
      if (entries.length === 0) continue
      const bytes = entries.reduce((sum, { rows }) => sum + rows.length, 0)
      count = Math.max(1, Math.min(entriesMax, Math.floor((readBytes * entries.length) / (bytes + 1))))
      startToStore(await readEntries(feed, entries, { importFile, signal, left: isNew ? deferred : new Set() }))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return async () => {
    await Promise.all(storing)
    if (failure) throw failure
  }
}

/** @param left accounts, and metadata of accounts, with earlier entries that wait in Redis; their entries are left there too */
async function readEntries(
  feed: Feed,
  entries: readonly StreamEntry[],
  { importFile, left, signal }: { importFile: string; left: Set<string>; signal: AbortSignal },
): Promise<Delivered[]> {
  const delivered: Delivered[] = []
  for (const { id, rows } of entries) {
    const origin = originOf(id, importFile)
    const read =
      typeof rows === 'string'
        ? [entryRejected(Buffer.alloc(0), rows)]
        : origin
          ? await feed.read(splitBlock(rows), origin, signal)
          : [entryRejected(rows, `the id of the entry, ${id}, does not begin with milliseconds since 1970`)]
    if (read.some((row) => isDeferred(row, left))) for (const name of read.flatMap(metadataOf)) left.add(name)
    else delivered.push({ id, read })
  }
  return delivered
}

const entryRejected = (bytes: Buffer, reason: string): RejectedRow => ({ resource: '', bytes, reason })

/** Of equal times the later entry wins, and within an entry the later row. @returns undefined if the id is not a time */
function originOf(id: string, importFile: string): RowOrigin | undefined {
  const [ms = 0, sequence = 0] = id.split('-').map(Number)
  if (ms >= storableTimes.untilMs) return undefined
  // Lines reach the maximum in 2039.
  const line = Math.min(ms * 4_096 + Math.min(sequence, 4_095), Number.MAX_SAFE_INTEGER)
  return { nowMs: ms, updatedAtMs: ms, importFile, nextLine: () => line }
}
