import { duplicateWindowMs } from '../../../schema/event.ts'
import { inRange } from '../../query/conditions.ts'
import { ch, counts, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import type { FunnelPlan } from './plan.ts'

/** Hashes of the keys of events that are stored more than once, until a merge keeps one row. */
export type CopiedKeys = readonly number[]

/** 53 bits: JSON numbers are exact. Another key with the same hash is only read in the slower way. */
const keyHash = ch`bitShiftRight(sipHash64(origin, id, generation), 11)`

/** A hash takes up to 17 bytes; ClickHouse rejects a form field above 128 KiB. */
const hashesPerParameter = 5_000

/**
 * The events in the range of a funnel that are stored more than once. Copies can differ in every other value: in the time,
 * which is by default that of the request, and in the name.
 * @returns rows `hash`
 */
export function copiedKeysSql(plan: FunnelPlan): Fragment {
  return ch`
SELECT ${keyHash} AS hash
FROM pixel_events
WHERE ${join(inReach(plan), '\n  AND ')}
GROUP BY hash
HAVING count() > 1`
}

/**
 * Events that fulfil conditions, each in the one row that merges keep: a SELECT of columns. FINAL reads in the order of ids
 * whatever the range, so it reads only the events that have copies.
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

function hashList(hashes: CopiedKeys): Fragment {
  const chunks: Fragment[] = []
  for (let first = 0; first < hashes.length; first += hashesPerParameter) {
    chunks.push(ch`${counts(hashes.slice(first, first + hashesPerParameter))}`)
  }
  return ch`(SELECT arrayJoin(arrayConcat(${join(chunks, ', ')})))`
}
