import type { EventKey } from '../query/eventKey.ts'
import { type QueryTarget, selectRows, smallFinal } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, join, text, texts } from '../stores/clickhouse/sql.ts'
import { eventColumns, type StoredEventRow } from './events.ts'

/** Which events to read, and their order. */
export interface EventQuery {
  accountId: string
  /** Conditions on the row that merges keep. */
  conditions: readonly Fragment[]
  /** The time by which the keys are ordered, epoch milliseconds. */
  atOf(row: StoredEventRow): number
}

/**
 * Reads the events at some keys, each in the row that merges keep; a key of another copy is left out.
 * @returns rows in the order of the keys, without repetitions
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readEventsByKey(
  clickhouse: QueryTarget,
  { accountId, conditions, atOf }: EventQuery,
  keys: readonly EventKey[],
  options: { label: string; signal: AbortSignal },
): Promise<StoredEventRow[]> {
  const rows = await selectRows<StoredEventRow>(clickhouse, keptEventsSql(accountId, conditions, keys), {
    ...options,
    settings: smallFinal,
  })
  const kept = new Map(rows.map((row) => [nameOf(row), row]))
  return keys.flatMap((key) => {
    const row = kept.get(nameOf(key))
    if (!row || atOf(row) !== key.atMs) return []
    kept.delete(nameOf(key))
    return [row]
  })
}

/** The events with these keys, unordered, if the row that merges keep matches. Hashes are compared first, which is faster. */
function keptEventsSql(accountId: string, conditions: readonly Fragment[], keys: readonly EventKey[]): Fragment {
  const hasKey = ch`(${join(idsByOrigin(keys), ' OR ')})`
  return ch`
SELECT ${eventColumns}
FROM pixel_events FINAL
PREWHERE id_hash IN (SELECT sipHash64(arrayJoin(${texts(keys.map(({ id }) => id))})))
WHERE ${join([ch`account_id = ${text(accountId)}`, hasKey, ...conditions], '\n  AND ')}`
}

/** A condition per origin: a set of ids takes two thirds of the time of a set of pairs. */
function idsByOrigin(keys: readonly EventKey[]): Fragment[] {
  const origins = [...new Set(keys.map(({ origin }) => origin))]
  return origins.map((wanted) => {
    const ids = keys.flatMap(({ origin, id }) => (origin === wanted ? [id] : []))
    return ch`origin = ${text(wanted)} AND id IN ${texts(ids)}`
  })
}

/** Ids contain no spaces, so names are unique. */
function nameOf({ origin, id, generation }: Pick<EventKey, 'origin' | 'id' | 'generation'>): string {
  return `${origin} ${id} ${generation}`
}
