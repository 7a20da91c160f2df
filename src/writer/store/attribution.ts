import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, instant, join } from '../../stores/clickhouse/sql.ts'
import { clickFields, conversionFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { Writer } from '../fence/writer.ts'
import { type Conversion, type CopiedField, copiedFromClick } from '../tables/conversion.ts'

type ClickField = (typeof copiedFromClick)[CopiedField]
const copied = Object.entries(copiedFromClick) as [CopiedField, ClickField][]

/** Fields that a conversion gets from its click if it has no value of its own, and where it keeps the value of the click. */
const inherited = copied.filter((pair): pair is [CopiedField, ClickField & keyof typeof conversionFields] =>
  Object.hasOwn(conversionFields, pair[1]),
)

const attributeFields = pick(['id', 'clickedAt', ...Object.values(copiedFromClick)])
type Attributes = Selected<typeof attributeFields>

function pick<Name extends keyof typeof clickFields>(names: readonly Name[]): Pick<typeof clickFields, Name> {
  return Object.fromEntries(names.map((name) => [name, clickFields[name]])) as Pick<typeof clickFields, Name>
}

/**
 * Attributes conversions to their clicks: sets `clickAt`, the other click attributes, and dimensions that the conversion lacks.
 * If retention removed the click, it keeps what its stored version has of it, else gets time and campaign from the index.
 * Without a stored click it is left unchanged.
 * @param storedById current versions of the conversions
 */
export async function copyClickDimensions(
  writer: Writer,
  conversions: readonly Conversion[],
  storedById: ReadonlyMap<string, Conversion>,
): Promise<void> {
  const ids = clickIdsOf(conversions)
  if (ids.length === 0) return
  // Together: copies are not synced to disk, so a server that restarted between both may have lost them.
  const clicks = await writer.retry('looking up clicks', async () => {
    await copyClicks(writer, ids)
    return await readConvertedClicks(writer, ids)
  })
  const missing = ids.filter((id) => !clicks.has(id))
  const removed = missing.length === 0 ? noClicks : await readRemovedClicks(writer, missing)
  for (const conversion of conversions) {
    const click = clicks.get(conversion.clickId)
    if (click) {
      conversion.clickAt = click.clickedAt
      for (const [field, from] of copied) conversion[field] = click[from]
      conversion.clickedAt ??= click.clickedAt
      inherit(conversion)
      continue
    }
    const index = removed.get(conversion.clickId)
    if (index) copyRemovedClick(conversion, index, storedById.get(conversion.id))
  }
}

type IndexedClick = Pick<Attributes, 'id' | 'clickedAt' | 'campaignId'>
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

async function readRemovedClicks(writer: Writer, ids: readonly string[]): Promise<ReadonlyMap<string, IndexedClick>> {
  const { clicksMs } = await writer.readRetained()
  if (clicksMs === 0) return noClicks
  const { id, clickedAt, campaignId } = attributeFields
  const query = ch`
SELECT ${selectFields({ id, clickedAt, campaignId })}
FROM click_index
WHERE ${writer.ofAccount}
  AND id IN ${idList(ids)}
  AND clicked_at < ${instant(clicksMs)}
LIMIT 1 BY id`
  const rows = await writer.select<IndexedClick>('looking up removed clicks', query, 'import.removed_clicks')
  return new Map(rows.map((row) => [row.id, row]))
}

/** Copies the clicks of conversions to `converted_click_rows`, and changes no conversion. */
export async function copyConvertedClicks(writer: Writer, conversions: readonly Conversion[]): Promise<void> {
  const ids = clickIdsOf(conversions)
  if (ids.length > 0) await writer.retry('copying clicks', () => copyClicks(writer, ids))
}

function clickIdsOf(conversions: readonly Conversion[]): string[] {
  return [...new Set(conversions.map(({ clickId }) => clickId))].filter((id) => id !== '')
}

/** Copies clicks, which are scattered over `clicks`, for attribution and pages of converted clicks. Superfluous copies do no harm. */
async function copyClicks(writer: Writer, ids: readonly string[]): Promise<void> {
  const keys = clickKeys(writer, ids)
  const columns = await copiedColumns(writer)
  const copy = (inTime: Fragment) => ch`
INSERT INTO converted_click_rows (${columns})
SELECT ${columns}
FROM clicks
WHERE ${keys}
  AND (clicked_at, id) NOT IN (SELECT clicked_at, id FROM converted_click_rows WHERE ${keys})
  AND ${inTime}`
  await writer.insertWithoutRetry('import.click_copies', copy)
}

/** @returns the columns of both tables, also of a later version: between two statements of a migration one of them may lack a column */
async function copiedColumns({ stores }: Writer): Promise<Fragment> {
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

async function readConvertedClicks(writer: Writer, ids: readonly string[]): Promise<Map<string, Attributes>> {
  const query = ch`
SELECT ${selectFields(attributeFields)}
FROM converted_click_rows
WHERE ${clickKeys(writer, ids)}
LIMIT 1 BY id`
  const rows = await selectRows<Attributes>(writer.stores.clickhouse, query, { label: 'import.attribution' })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Condition on the sort keys of the clicks with these ids, which the index returns. */
function clickKeys({ ofAccount }: Writer, ids: readonly string[]): Fragment {
  return ch`${ofAccount}
  AND (clicked_at, id) IN (SELECT clicked_at, id FROM click_index WHERE ${ofAccount} AND id IN ${idList(ids)})`
}
