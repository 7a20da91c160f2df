import type { EventRow, StoredEventFields } from '../../schema/event.ts'
import type { EventKey } from '../query/eventKey.ts'
import { type ReadContext, readLongRows } from '../query/readContext.ts'
import { toInstantText } from '../query/timeRange.ts'
import { selectFields } from '../stores/clickhouse/columnKinds.ts'
import { smallFinal } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, join, text, texts } from '../stores/clickhouse/sql.ts'
import { pixelEventFields, type Selected } from '../stores/clickhouse/tableColumns.ts'
import { type ExportField, exportFields, type RowField } from './exportFields.ts'
import type { RowContext } from './nameCache.ts'

const selected = { ...pixelEventFields, storedAt: 'instant' } as const

/** The select list of events, and the rows that it returns: absent text is empty, instants are epoch milliseconds. */
export const eventColumns = selectFields(selected)
export type StoredEventRow = Selected<typeof selected>

/** Reads the names of campaigns. @returns the function that makes a row of the API */
export async function eventSerializer(
  { nameCache }: Pick<RowContext, 'nameCache'>,
  accountId: string,
  rows: readonly StoredEventRow[],
): Promise<(row: StoredEventRow) => EventRow> {
  const ids = rows.map(({ campaignId }) => campaignId)
  const campaigns = await nameCache.find(accountId, 'campaigns', ids)
  return (row) => ({
    ...eventFields(row, campaigns.get(row.campaignId) ?? null),
    storedAt: toInstantText(row.storedAt),
  })
}

/** @returns the fields of the API, without the name of the campaign */
export function toEvent(stored: Selected<typeof pixelEventFields>): StoredEventFields {
  const { campaignName: _name, ...event } = eventFields(stored, null)
  return event
}

/** A test compares the fields of the list with the schema. */
function eventFields(stored: Selected<typeof pixelEventFields>, campaignName: string | null) {
  const fields: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(pixelEventFields)) {
    const value = stored[name as keyof typeof pixelEventFields]
    if (value === '') fields[name] = null
    else if (name === 'properties') fields[name] = JSON.parse(stored.properties)
    else fields[name] = kind === 'instant' ? toInstantText(Number(value)) : value
    if (name === 'campaignId') fields.campaignName = campaignName
  }
  return fields as unknown as Omit<EventRow, 'storedAt'>
}

/** The fields of an event in an export, in the order of the API. @param campaign id and name of the campaign */
export function eventExportFields(campaign: readonly RowField[]): ExportField[] {
  return [...exportFields(pixelEventFields, '', campaign), { name: 'storedAt', value: ch`stored_at` }]
}

/**
 * Reads the events at some keys, each in the row that merges keep; a key of another copy is left out.
 * @param conditions on the row that merges keep; the account is first
 * @param atOf the time by which the keys are ordered, epoch milliseconds
 * @returns rows in the order of the keys, without repetitions; undefined if the rows at several keys have too many bytes
 */
export async function readEventsByKey(
  context: ReadContext,
  { conditions, atOf }: { conditions: readonly Fragment[]; atOf(row: StoredEventRow): number },
  keys: readonly EventKey[],
  label: string,
): Promise<StoredEventRow[] | undefined> {
  const query = keptEventsSql(conditions, keys)
  const { rows, isCut } = await readLongRows<StoredEventRow>(context, query, label, smallFinal)
  if (isCut && keys.length > 1) return undefined
  const kept = new Map(rows.map((row) => [eventKeyText(row), row]))
  return keys.flatMap((key) => {
    const row = kept.get(eventKeyText(key))
    if (!row || atOf(row) !== key.atMs) return []
    kept.delete(eventKeyText(key))
    return [row]
  })
}

/** The events with these keys, unordered, if the row that merges keep matches. Hashes are compared first, which is faster. */
function keptEventsSql(conditions: readonly Fragment[], keys: readonly EventKey[]): Fragment {
  const hasKey = ch`(${join(idsByOrigin(keys), ' OR ')})`
  return ch`
SELECT ${eventColumns}
FROM pixel_events FINAL
PREWHERE id_hash IN (SELECT sipHash64(arrayJoin(${texts(keys.map(({ id }) => id))})))
WHERE ${join([...conditions, hasKey], '\n  AND ')}`
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
function eventKeyText({ origin, id, generation }: Pick<EventKey, 'origin' | 'id' | 'generation'>): string {
  return `${origin} ${id} ${generation}`
}
