import { duplicateWindowMs } from '../../../schema/event.ts'
import { inRange } from '../../query/conditions.ts'
import type { Range } from '../../query/timeRange.ts'
import { ch, count, counts, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import type { CopyRanges } from './copyRanges.ts'
import type { FunnelPlan } from './plan.ts'

/** Maximum number of keys that are listed in a query; each statement of a funnel lists them up to nine times, 1 MB each. */
export const copiedKeysMax = 50_000

/**
 * Hashes of the keys of events that are stored more than once, until a merge keeps one row; `many` if there are more than
 * `copiedKeysMax`.
 */
export type CopiedKeys = readonly number[] | 'many'

/**
 * 53 bits of the key: JSON numbers are exact. Another key with the same hash is only read in the slower way. TRAP: an id alone is
 * not a key: both origins may use it, and it is another event 24 hours later.
 */
const keyHash = ch`bitShiftRight(key_hash, 11)`

/** A hash takes up to 17 bytes; ClickHouse rejects a form field above 128 KiB. */
const hashesPerParameter = 5_000

/** What the statement of a funnel depends on. */
export interface StoredEvents {
  copies: CopiedKeys
  /** Whether events can have no visitor; those are joined with their clicks. */
  areJoined: boolean
  /**
   * Which joins read all clicks of the account: that of the events of the first step, and that of later events without a
   * visitor. This is faster than to look up the clicks of the events, unless these are few.
   */
  readsAllClicks: { first: boolean; later: boolean }
}

/**
 * The events in the range of a funnel that are stored more than once. Copies can differ in every other value: in the time,
 * which is by default that of the request, and in the name.
 * @param ranges from `copyRangesOf`; `occurred` is not empty
 * @returns rows `hash`, at most one more than `copiedKeysMax`
 */
export function copiedKeysSql(plan: FunnelPlan, { occurred, accepted }: CopyRanges): Fragment {
  const wereAccepted = accepted
    ? [
        inRanges([
          [ch`received_at`, accepted.received],
          [ch`stored_at`, accepted.stored],
        ]),
      ]
    : []
  return ch`
SELECT ${keyHash} AS hash
FROM pixel_events
WHERE ${join([...inReach(plan), inRanges([[ch`occurred_at`, occurred]]), ...wereAccepted], '\n  AND ')}
GROUP BY hash
HAVING count() > 1
LIMIT ${count(copiedKeysMax + 1)}`
}

/** Whether one of the times is in one of its ranges. */
function inRanges(times: readonly (readonly [column: Fragment, ranges: readonly Range[]])[]): Fragment {
  const conditions = times.flatMap(([column, ranges]) =>
    ranges.map((range) => ch`(${join(inRange(column, range), '\n  AND ')})`),
  )
  return ch`(${join(conditions, ' OR ')})`
}

/**
 * Events that fulfil conditions, each in the one row that merges keep: a SELECT of columns. FINAL reads in the order of ids
 * whatever the range, so it reads only the events that have copies, unless they are too many to list.
 */
export function eventsOnceSql(
  plan: FunnelPlan,
  columns: Fragment,
  conditions: readonly Fragment[],
  copies: CopiedKeys,
): Fragment {
  const select = (from: Fragment, more: readonly Fragment[]) => ch`
  SELECT ${columns}
  FROM ${from}
  WHERE ${join([...conditions, ...more], '\n  AND ')}`
  if (copies === 'many') return select(ch`pixel_events FINAL`, [])
  if (copies.length === 0) return select(ch`pixel_events`, [])
  const isCopied = ch`${keyHash} IN ${hashList(copies)}`
  const ids = ch`(origin, id) IN (
    SELECT origin, id
    FROM pixel_events
    WHERE ${join([...inReach(plan), isCopied], '\n  AND ')}
  )`
  return join(
    [select(ch`pixel_events`, [ch`NOT ${isCopied}`]), select(ch`pixel_events FINAL`, [ids, isCopied])],
    '\nUNION ALL\n',
  )
}

/** The rows of a funnel and their copies: acceptances of an id further apart than this are different events. */
function inReach({ accountId, range, windowMs }: FunnelPlan): Fragment[] {
  const fromMs = range.fromMs - duplicateWindowMs
  const untilMs = range.untilMs + windowMs + duplicateWindowMs
  return [ch`account_id = ${text(accountId)}`, ...inRange(ch`occurred_at`, { fromMs, untilMs })]
}

function hashList(hashes: readonly number[]): Fragment {
  const chunks: Fragment[] = []
  for (let first = 0; first < hashes.length; first += hashesPerParameter) {
    chunks.push(ch`${counts(hashes.slice(first, first + hashesPerParameter))}`)
  }
  return ch`(SELECT arrayJoin(arrayConcat(${join(chunks, ', ')})))`
}
