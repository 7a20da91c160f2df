import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, join } from '../../stores/clickhouse/sql.ts'
import { clickFields, conversionFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import { readRangesByAccount } from '../../stores/postgres/retainedRanges.ts'
import type { WriteSession } from '../fence/writer.ts'
import { type AccountKey, accountsOf, hasKey, inAccounts, keyText } from '../tables/accountKeys.ts'
import { type Conversion, type CopiedField, copiedFromClick } from '../tables/conversion.ts'
import type { Change } from './conversions.ts'

type ClickField = (typeof copiedFromClick)[CopiedField]
const copied = Object.entries(copiedFromClick) as [CopiedField, ClickField][]

/** Fields that a conversion gets from its click if it has no value of its own, and where it keeps the value of the click. */
const inherited = copied.filter((pair): pair is [CopiedField, ClickField & keyof typeof conversionFields] =>
  Object.hasOwn(conversionFields, pair[1]),
)

const attributeFields = pick(['id', 'clickedAt', ...Object.values(copiedFromClick)])
type Attributes = Selected<typeof attributeFields> & { accountId: string }

function pick<Name extends keyof typeof clickFields>(names: readonly Name[]): Pick<typeof clickFields, Name> {
  return Object.fromEntries(names.map((name) => [name, clickFields[name]])) as Pick<typeof clickFields, Name>
}

/**
 * Attributes conversions to their clicks: sets `clickAt`, the other click attributes, and dimensions that the conversion lacks.
 * If retention removed the click, it keeps what its stored version has of it, else gets time and campaign from the index.
 * Without a stored click it is left unchanged.
 */
export async function copyClickDimensions(session: WriteSession, changes: readonly Change[]): Promise<void> {
  const keys = clickKeysOf(changes)
  if (keys.length === 0) return
  // Together: copies are not synced to disk, so a server that restarted between both may have lost them.
  const clicks = await session.retry('looking up clicks', async () => {
    await copyClicks(session, keys)
    return await readConvertedClicks(session, keys)
  })
  const missing = keys.filter((key) => !clicks.has(keyText(key)))
  const removed = missing.length === 0 ? noClicks : await readRemovedClicks(session, missing)
  for (const { row, before } of changes) {
    if (!row) continue
    const key = keyText({ accountId: row.accountId, id: row.clickId })
    const click = clicks.get(key)
    if (click) {
      row.clickAt = click.clickedAt
      for (const [field, from] of copied) row[field] = click[from]
      row.clickedAt ??= click.clickedAt
      inherit(row)
      continue
    }
    const index = removed.get(key)
    if (index) copyRemovedClick(row, index, before)
  }
}

type IndexedClick = Pick<Attributes, 'accountId' | 'id' | 'clickedAt' | 'campaignId'>
const noClicks: ReadonlyMap<string, IndexedClick> = new Map()

function copyRemovedClick(conversion: Conversion, index: IndexedClick, stored: Conversion | undefined): void {
  conversion.clickAt = index.clickedAt
  conversion.clickedAt ??= index.clickedAt
  if (stored?.clickAt === index.clickedAt && stored.clickId === conversion.clickId) {
    for (const [field] of copied) conversion[field] = stored[field]
  } else conversion.clickCampaignId = index.campaignId
  inherit(conversion)
}

function inherit(conversion: Conversion): void {
  for (const [from, field] of inherited) conversion[field] ||= conversion[from]
}

async function readRemovedClicks(
  session: WriteSession,
  keys: readonly AccountKey[],
): Promise<ReadonlyMap<string, IndexedClick>> {
  const retained = await session.retry('reading from when rows are retained', () =>
    readRangesByAccount(session.stores.postgres, accountsOf(keys)),
  )
  const clicksMsOf = ({ accountId }: Pick<AccountKey, 'accountId'>) => retained.get(accountId)?.clicksMs ?? 0
  const mayBeRemoved = keys.filter((key) => clicksMsOf(key) > 0)
  if (mayBeRemoved.length === 0) return noClicks
  const { id, clickedAt, campaignId } = attributeFields
  const query = ch`
SELECT account_id AS accountId, ${selectFields({ id, clickedAt, campaignId })}
FROM click_index
WHERE ${hasKey(mayBeRemoved)}`
  const rows = await session.select<IndexedClick>('looking up removed clicks', query, 'import.removed_clicks')
  return new Map(rows.filter((row) => row.clickedAt < clicksMsOf(row)).map((row) => [keyText(row), row]))
}

/** Copies the clicks of conversions to `converted_click_rows`, and changes no conversion. */
export async function copyConvertedClicks(session: WriteSession, changes: readonly Change[]): Promise<void> {
  const keys = clickKeysOf(changes)
  if (keys.length > 0) await session.retry('copying clicks', () => copyClicks(session, keys))
}

/** @returns the keys of the clicks of the changed conversions, each once */
function clickKeysOf(changes: readonly Change[]): AccountKey[] {
  const keys = changes.flatMap(({ row }) => (row?.clickId ? { accountId: row.accountId, id: row.clickId } : []))
  return [...new Map(keys.map((key) => [keyText(key), key])).values()]
}

/** Copies clicks, which are scattered over `clicks`, for attribution and pages of converted clicks. Superfluous copies do no harm. */
async function copyClicks(session: WriteSession, keys: readonly AccountKey[]): Promise<void> {
  const isNamed = hasClickKey(keys)
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

async function readConvertedClicks(
  session: WriteSession,
  keys: readonly AccountKey[],
): Promise<Map<string, Attributes>> {
  const query = ch`
SELECT account_id AS accountId, ${selectFields(attributeFields)}
FROM converted_click_rows
WHERE ${hasClickKey(keys)}
LIMIT 1 BY account_id, id`
  const rows = await selectRows<Attributes>(session.stores.clickhouse, query, { label: 'import.attribution' })
  return new Map(rows.map((row) => [keyText(row), row]))
}

/** Condition on the sort keys of the clicks with these keys, which the index returns. */
function hasClickKey(keys: readonly AccountKey[]): Fragment {
  return ch`${inAccounts(accountsOf(keys))}
  AND (account_id, clicked_at, id) IN (SELECT account_id, clicked_at, id FROM click_index WHERE ${hasKey(keys)})`
}
