import { randomUUID } from 'node:crypto'
import type { RowTable } from '../../query/attributes.ts'
import { LeaseLost } from '../../stores/postgres/lease.ts'
import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'
import type { WriteSession } from '../fence/session.ts'
import { accountsOf } from '../tables/accountKeys.ts'
import { groupBy } from '../tables/groupBy.ts'
import type { AccountTask } from './accountTasks.ts'
import { type CountedRows, countRows } from './confirmedRows.ts'
import { type Extent, monthOf } from './months.ts'

/** An entry of the journal: the next writer rebuilds its days, and until it is cleared the watermark does not pass its `stored_at`. */
export interface JournalEntry extends Extent {
  token: string
  accountId: string
  resource: RowTable
}

type OfAccount = Pick<JournalEntry, 'accountId' | 'resource'>

/** Times of storage by account and resource, epoch milliseconds. */
export type StoredAt = (entry: OfAccount) => number

/** @param extent of rows that may have been sent; or of the days that a repair rebuilds, which add no rows */
export function entryOf(accountId: string, resource: RowTable, extent: Extent): JournalEntry {
  return { token: randomUUID(), accountId, resource, ...extent }
}

/**
 * @param times of the facts that a batch adds, such as clicked_at, epoch milliseconds; at least one
 * @param removed times of the facts that it removes, epoch milliseconds
 * @param newTimes times of the new rows, as `times`; the rows of all other times are written again
 */
export function extentOf(
  times: readonly number[],
  removed: readonly number[] = [],
  newTimes: readonly number[] = times,
  nowMs = Date.now(),
): Extent {
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  const byMonth = new Map<number, number>()
  const count = (atMs: number, rows: number) => {
    firstMs = Math.min(firstMs, atMs)
    lastMs = Math.max(lastMs, atMs)
    const monthMs = startOfUtcMonth(atMs)
    byMonth.set(monthMs, (byMonth.get(monthMs) ?? 0) + rows)
  }
  for (const atMs of times) count(atMs, 1)
  for (const atMs of removed) count(atMs, -1)
  let throughMs = Number.NEGATIVE_INFINITY
  let aheadMs = Number.POSITIVE_INFINITY
  for (const atMs of newTimes) {
    if (atMs > nowMs) aheadMs = Math.min(aheadMs, atMs)
    else throughMs = Math.max(throughMs, atMs)
  }
  return {
    firstMs,
    lastMs,
    added: [...byMonth].flatMap(([monthMs, rows]) => (rows === 0 ? [] : { month: monthOf(monthMs), rows })),
    ...(newTimes.length > 0 && { throughMs }),
    ...(Number.isFinite(aheadMs) && { aheadMs }),
  }
}

/**
 * Records batches before they are sent, and the task of attributing earlier conversions to their clicks. Idempotent: a known token
 * keeps its time.
 * @returns `stored_at` of the rows: later than in the earlier batches of their account
 */
export async function recordBatches(session: WriteSession, entries: readonly JournalEntry[]): Promise<StoredAt> {
  const { postgres } = session.stores
  const records = entries.map(({ token, accountId, resource, firstMs, lastMs, added, throughMs, aheadMs }) => ({
    token,
    account_id: accountId,
    resource,
    first_at: new Date(firstMs).toISOString(),
    last_at: new Date(lastMs).toISOString(),
    months: added.map(({ month }) => month),
    added: added.map(({ rows }) => rows),
    through_at: throughMs === Number.NEGATIVE_INFINITY ? '-infinity' : timeTextOf(throughMs),
    ahead_at: timeTextOf(aheadMs),
  }))
  type Recorded = OfAccount & { storedAt: Date }
  const result = postgres<Recorded[]>`
    SELECT account_id AS "accountId", resource, stored_at AS "storedAt" FROM recorded`
  // The rows of the watermarks are locked until the statement is committed, so batches become visible in the order of their times.
  const recorded = await session.change('recording batches in the journal', result)`
    records AS (
      SELECT * FROM held, jsonb_to_recordset(${postgres.json(records)}) AS records (
        token text, account_id text, resource text, first_at timestamptz, last_at timestamptz, through_at timestamptz,
        ahead_at timestamptz, months date[], added integer[])),
    marks AS (
      INSERT INTO watermarks AS known (account_id, resource, stored_at, data_through)
      SELECT id, resource, max(greatest(clock_timestamp(), created_at + interval '1 millisecond')), '-infinity'
      FROM records JOIN accounts ON id = account_id
      GROUP BY id, resource
      ORDER BY id, resource
      ON CONFLICT (account_id, resource) DO UPDATE
      SET stored_at = greatest(known.stored_at + interval '1 millisecond', excluded.stored_at)
      RETURNING account_id, resource, stored_at),
    tasks AS (
      INSERT INTO account_tasks (account_id, task)
      SELECT DISTINCT account_id, ${'attribute_late_clicks' satisfies AccountTask}::text
      FROM records
      WHERE resource = 'clicks'
      ORDER BY account_id
      ON CONFLICT DO NOTHING),
    recorded AS (
      INSERT INTO import_batches (
        token, account_id, resource, first_at, last_at, through_at, ahead_at, months, added, stored_at)
      SELECT token, account_id, resource, first_at, last_at, through_at, ahead_at, months, added, stored_at
      FROM records JOIN marks USING (account_id, resource)
      ON CONFLICT (token) DO UPDATE SET token = excluded.token
      RETURNING account_id, resource, stored_at)`
  if (recorded.length < entries.length) throw new LeaseLost()
  const times = new Map(recorded.map((row) => [`${row.accountId} ${row.resource}`, row.storedAt.getTime()]))
  return ({ accountId, resource }) => times.get(`${accountId} ${resource}`) ?? 0
}

const timeTextOf = (ms: number | null | undefined) => (typeof ms === 'number' ? new Date(ms).toISOString() : null)

type Tokens = readonly Pick<JournalEntry, 'token'>[]

/** The clause that clears batches: `cleared` has their rows. */
const clearedBatches = ({ stores: { postgres } }: WriteSession, entries: Tokens) => postgres`
    cleared AS (
      DELETE FROM import_batches USING held WHERE token = ANY(${entries.map(({ token }) => token)}::text[])
      RETURNING account_id, resource, months, added, through_at, ahead_at, stored_at)`

/**
 * The clause that raises the watermarks of accounts to the times in `latest`. A time that was in the future counts with the first batch
 * after it.
 */
const raisedWatermarks = ({ stores: { postgres } }: WriteSession) => postgres`
    raised AS (
      UPDATE watermarks AS known SET
        data_through = CASE WHEN data_through IS NOT NULL THEN
          greatest(data_through, through_at, CASE WHEN known.ahead_at <= clock_timestamp() THEN known.ahead_at END) END,
        ahead_at = least(CASE WHEN known.ahead_at > clock_timestamp() THEN known.ahead_at END, latest.ahead_at),
        last_row_at = greatest(last_row_at, latest.stored_at)
      FROM latest
      WHERE known.account_id = latest.account_id AND known.resource = latest.resource)`

/**
 * Clears batches that ClickHouse confirmed, adds their rows to the counts of confirmed rows (`stored_rows`), and records up to when the
 * accounts have rows and when their last one was stored, in one statement. Idempotent.
 */
export async function clearBatches(session: WriteSession, entries: Tokens): Promise<void> {
  // Not the writer's own signal: an interrupted writer still clears the batches that it stored.
  await session.change('clearing batches from the journal', undefined, session.lease.lost)`
    ${clearedBatches(session, entries)},
    latest AS (
      SELECT account_id, resource, max(through_at) AS through_at, min(ahead_at) AS ahead_at, max(stored_at) AS stored_at
      FROM cleared
      WHERE through_at IS NOT NULL
      GROUP BY account_id, resource),
    ${raisedWatermarks(session)},
    added AS (
      INSERT INTO stored_rows (account_id, resource, month, rows)
      SELECT account_id, resource, month, sum(rows)
      FROM cleared, unnest(months, added) AS counted (month, rows)
      GROUP BY account_id, resource, month
      ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = stored_rows.rows + excluded.rows)`
}

/** The clause of the rows that ClickHouse has: `counted` has their number by month and their times. */
export const rowsInClickHouse = ({ stores: { postgres } }: WriteSession, counted: readonly CountedRows[]) => postgres`
    counted AS (
      SELECT "accountId" AS account_id, resource, month, rows, to_timestamp("storedMs" / 1000) AS stored_at,
        to_timestamp(nullif("throughMs", 0) / 1000) AS through_at, to_timestamp(nullif("aheadMs", 0) / 1000) AS ahead_at
      FROM jsonb_to_recordset(${postgres.json(counted)}) AS counted (
        "accountId" text, resource text, month date, rows bigint, "throughMs" float8, "aheadMs" float8, "storedMs" float8))`

/**
 * Clears batches of unknown outcome after their days were rebuilt. The counts of confirmed rows become the rows in ClickHouse, but
 * change by no more than these batches explain: `verify` still reports a loss of earlier rows. One statement; idempotent.
 * @param counted the rows that ClickHouse has in every month of the batches, and their times
 */
export async function settleBatches(session: WriteSession, entries: Tokens, counted: readonly CountedRows[]) {
  await session.change('clearing repaired batches from the journal')`
    ${clearedBatches(session, entries)},
    bounds AS (
      SELECT account_id, resource, month, sum(least(rows, 0)) AS lowest, sum(greatest(rows, 0)) AS highest
      FROM cleared, unnest(months, added) AS counted (month, rows)
      GROUP BY account_id, resource, month),
    ${rowsInClickHouse(session, counted)},
    latest AS (
      SELECT account_id, resource, max(counted.through_at) AS through_at, min(counted.ahead_at) AS ahead_at,
        least(max(counted.stored_at), max(cleared.stored_at)) AS stored_at
      FROM cleared JOIN counted USING (account_id, resource)
      WHERE cleared.through_at IS NOT NULL
      GROUP BY account_id, resource),
    ${raisedWatermarks(session)},
    settled AS (
      INSERT INTO stored_rows (account_id, resource, month, rows)
      SELECT account_id, resource, month,
        least(
          greatest(coalesce(counted.rows, 0), coalesce(stored_rows.rows, 0) + lowest),
          coalesce(stored_rows.rows, 0) + highest)
      FROM bounds
      LEFT JOIN counted USING (account_id, resource, month)
      LEFT JOIN stored_rows USING (account_id, resource, month)
      ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = excluded.rows)`
}

/** Computes up to when migrated accounts have rows, and when the last one was stored. Their later batches raise both. */
export async function fillDataThrough(session: WriteSession, accountIds: readonly string[]): Promise<void> {
  const unknown = await session.sql<OfAccount[]>('reading up to when there are rows')`
    SELECT account_id AS "accountId", resource FROM watermarks
    WHERE account_id = ANY(${[...accountIds]}::text[]) AND data_through IS NULL`
  for (const [resource, ofResource] of groupBy(unknown, (one) => one.resource)) {
    const ids = accountsOf(ofResource)
    const counted = await countRows(session, ids, resource)
    await session.change('recording up to when there are rows')`
      ${rowsInClickHouse(session, counted)},
      recorded AS (
        UPDATE watermarks AS known SET
          data_through = coalesce(latest.through_at, '-infinity'), ahead_at = latest.ahead_at,
          last_row_at = greatest(last_row_at, latest.stored_at)
        FROM held, unnest(${ids}::text[]) AS id
        LEFT JOIN (
          SELECT account_id, max(through_at) AS through_at, min(ahead_at) AS ahead_at, max(stored_at) AS stored_at
          FROM counted
          GROUP BY account_id
        ) AS latest ON latest.account_id = id
        WHERE known.account_id = id AND resource = ${resource} AND data_through IS NULL)`
  }
}

/** @returns the batches of accounts that were not cleared; their days must be rebuilt */
export async function readLeftovers(session: WriteSession, accountIds: readonly string[]): Promise<JournalEntry[]> {
  return await session.sql<JournalEntry[]>('reading the journal')`
    SELECT token, account_id AS "accountId", resource,
      (SELECT coalesce(jsonb_agg(counted), '[]') FROM unnest(months, added) AS counted (month, rows)) AS added,
      (extract(epoch FROM through_at) * 1000)::float8 AS "throughMs",
      (extract(epoch FROM first_at) * 1000)::float8 AS "firstMs", (extract(epoch FROM last_at) * 1000)::float8 AS "lastMs"
    FROM import_batches
    WHERE account_id = ANY(${[...accountIds]}::text[])
    ORDER BY created_at, token`
}
