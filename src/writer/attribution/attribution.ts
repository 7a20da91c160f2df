import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, join } from '../../stores/clickhouse/sql.ts'
import { clickFields, conversionFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import { textList } from '../../stores/clickhouse/textList.ts'
import type { WriteSession } from '../fence/session.ts'
import { accountsOf, hasKey, inAccounts, keyText } from '../tables/accountKeys.ts'
import { type Conversion, type CopiedField, copiedFromClick } from '../tables/conversion.ts'
import type { Change } from '../upserts/changes.ts'

type ClickField = (typeof copiedFromClick)[CopiedField]
const copied = Object.entries(copiedFromClick) as [CopiedField, ClickField][]

/** Fields that a conversion gets from its click if it has no value of its own, and where it keeps the value of the click. */
const inherited = copied.filter((pair): pair is [CopiedField, ClickField & keyof typeof conversionFields] =>
  Object.hasOwn(conversionFields, pair[1]),
)

const attributeNames = ['id', 'clickedAt', ...Object.values(copiedFromClick)] as const
const attributeFields = Object.fromEntries(attributeNames.map((name) => [name, clickFields[name]])) as Pick<
  typeof clickFields,
  (typeof attributeNames)[number]
>
type Attributes = Selected<typeof attributeFields> & { accountId: string }

/**
 * Attributes conversions to their clicks: sets `clickAt`, the other click attributes, and dimensions that the conversion lacks.
 * If retention removed the click, it keeps what its stored version has of it, else gets time and campaign from the index.
 * Without a stored click it is left unchanged.
 */
export async function copyClickDimensions(
  session: WriteSession,
  changes: readonly Change<Conversion>[],
  indexed: readonly IndexedClick[],
): Promise<void> {
  if (indexed.length === 0) return
  // TRAP: copy and read in one retry: a restart of ClickHouse may lose unsynced copies.
  const clicks = await session.retry('looking up clicks', async () => {
    await copyClicks(session, indexed)
    return await readConvertedClicks(session, indexed)
  })
  const missing = indexed.filter((click) => !clicks.has(keyText(click)))
  const removed = await removedOf(session, missing)
  for (const { row, before } of changes) {
    if (!row) continue
    const key = keyText({ accountId: row.accountId, id: row.clickId })
    const click = clicks.get(key)
    const found = click ?? removed.get(key)
    if (!found) continue
    row.clickAt = found.clickedAt
    row.clickedAt ??= found.clickedAt
    if (click) for (const [field, from] of copied) row[field] = click[from]
    else if (before?.clickAt === found.clickedAt && before.clickId === row.clickId)
      for (const [field] of copied) row[field] = before[field]
    else row.clickCampaignId = found.campaignId
    for (const [from, field] of inherited) row[field] ||= row[from]
  }
}

export type IndexedClick = Pick<Attributes, 'accountId' | 'id' | 'clickedAt' | 'campaignId'>

/** @returns the clicks that retention has removed */
async function removedOf(session: WriteSession, missing: readonly IndexedClick[]) {
  if (missing.length === 0) return new Map<string, IndexedClick>()
  const retained = await session.readRangesByAccount(accountsOf(missing))
  const removed = missing.filter(({ accountId, clickedAt }) => clickedAt < (retained.get(accountId)?.clicksMs ?? 0))
  return new Map(removed.map((click) => [keyText(click), click]))
}

/** Copies the clicks of conversions to `converted_click_rows`. */
export async function copyConvertedClicks(session: WriteSession, indexed: readonly IndexedClick[]): Promise<void> {
  if (indexed.length > 0) await session.retry('copying clicks', () => copyClicks(session, indexed))
}

/**
 * @param batch clicks that will be stored before the conversions; they are not looked up
 * @returns the clicks of the changed conversions in the index, which also has removed clicks
 */
export async function readIndexedClicks(
  session: WriteSession,
  changes: readonly Change<Conversion>[],
  batch?: { timeOf(key: string): number | undefined },
): Promise<IndexedClick[]> {
  const all = changes.flatMap(({ row }) => (row?.clickId ? { accountId: row.accountId, id: row.clickId } : []))
  const known: IndexedClick[] = []
  const keys = [...new Map(all.map((key) => [keyText(key), key])).values()].filter((key) => {
    const clickedAt = batch?.timeOf(keyText(key))
    if (clickedAt !== undefined) known.push({ ...key, clickedAt, campaignId: '' })
    return clickedAt === undefined
  })
  if (keys.length === 0) return known
  const { id, clickedAt, campaignId } = attributeFields
  const query = ch`
SELECT account_id AS accountId, ${selectFields({ id, clickedAt, campaignId })}
FROM click_index
WHERE ${hasKey(keys)}`
  return known.concat(await session.select<IndexedClick>('looking up clicks', query, 'import.indexed_clicks'))
}

/** Copies clicks, which are scattered over `clicks`, for attribution and pages of converted clicks. Superfluous copies do no harm. */
async function copyClicks(session: WriteSession, clicks: readonly IndexedClick[]): Promise<void> {
  const isNamed = isOneOf(clicks)
  const columns = await copiedColumns(session)
  const copy = (inTime: Fragment) => ch`
INSERT INTO converted_click_rows (${columns})
SELECT ${columns}
FROM clicks
WHERE ${isNamed}
  AND (account_id, clicked_at, id) NOT IN (SELECT account_id, clicked_at, id FROM converted_click_rows WHERE ${isNamed})
  AND ${inTime}`
  await session.insertWithoutRetry('import.click_copies', copy)
}

/** @returns the columns of both tables, also of a later version: between two statements of a migration one of them may lack a column */
async function copiedColumns({ stores }: WriteSession): Promise<Fragment> {
  const query = ch`
SELECT name
FROM system.columns
WHERE database = currentDatabase() AND table IN ('clicks', 'converted_click_rows') AND default_kind != 'MATERIALIZED'
GROUP BY name
HAVING count() = 2
ORDER BY name`
  const rows = await selectRows<{ name: string }>(stores.clickhouse, query, { label: 'import.copied_columns' })
  return join(rows.map(({ name }) => identifier(name)))
}

async function readConvertedClicks(session: WriteSession, clicks: readonly IndexedClick[]) {
  const query = ch`
SELECT account_id AS accountId, ${selectFields(attributeFields)}
FROM converted_click_rows
WHERE ${isOneOf(clicks)}
LIMIT 1 BY account_id, id`
  const rows = await selectRows<Attributes>(session.stores.clickhouse, query, { label: 'import.attribution' })
  return new Map(rows.map((row) => [keyText(row), row]))
}

/** Condition: a row is one of the clicks; it uses the sort key. */
function isOneOf(clicks: readonly IndexedClick[]): Fragment {
  const accounts = textList(clicks.map(({ accountId }) => accountId))
  const times = textList(clicks.map(({ clickedAt }) => `${clickedAt}`))
  const ids = textList(clicks.map(({ id }) => id))
  return ch`${inAccounts(accountsOf(clicks))}
  AND (account_id, clicked_at, id) IN (
    SELECT arrayJoin(arrayZip(
      ${accounts},
      arrayMap(ms -> fromUnixTimestamp64Milli(toInt64(ms), 'UTC'), ${times}),
      ${ids})))`
}
