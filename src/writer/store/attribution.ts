import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { idList } from '../../stores/clickhouse/idList.ts'
import { runStatement } from '../../stores/clickhouse/insert.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, instant } from '../../stores/clickhouse/sql.ts'
import { clickFields, conversionFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import type { Writer } from '../lease/writer.ts'
import { type Conversion, type CopiedField, copiedFromClick } from '../tables/conversion.ts'

type ClickField = (typeof copiedFromClick)[CopiedField]
const copied = Object.entries(copiedFromClick) as [CopiedField, ClickField][]

/** Fields that a conversion gets from its click if it has no value of its own, and where it keeps the value of the click. */
const inherited = copied.filter((pair): pair is [CopiedField, ClickField & keyof typeof conversionFields] =>
  Object.hasOwn(conversionFields, pair[1]),
)

/** The fields of a click that its conversions use. */
const attributeFields = pick(['id', 'clickedAt', ...Object.values(copiedFromClick)])
type Attributes = Selected<typeof attributeFields>

function pick<Name extends keyof typeof clickFields>(names: readonly Name[]): Pick<typeof clickFields, Name> {
  return Object.fromEntries(names.map((name) => [name, clickFields[name]])) as Pick<typeof clickFields, Name>
}

/**
 * Attributes conversions to their clicks: sets `clickAt` and the other click attributes, and those dimensions that the
 * conversion has no value for. A conversion whose click was removed by retention keeps what its stored version has of the
 * click; without one it gets the time and the campaign, which the index keeps. A conversion without a stored click is left
 * unchanged.
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
    return await readClicks(writer, ids)
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

/** What the index keeps of a click that was removed. */
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

/**
 * Copies the clicks of conversions to `converted_click_rows`, and changes no conversion.
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function copyConvertedClicks(writer: Writer, conversions: readonly Conversion[]): Promise<void> {
  const ids = clickIdsOf(conversions)
  if (ids.length > 0) await writer.retry('copying clicks', () => copyClicks(writer, ids))
}

function clickIdsOf(conversions: readonly Conversion[]): string[] {
  return [...new Set(conversions.map(({ clickId }) => clickId))].filter((id) => id !== '')
}

/**
 * Copies clicks to `converted_click_rows`, which pages of converted clicks and attribution read, because these clicks are
 * scattered over `clicks`. A copy without a conversion does no harm.
 */
async function copyClicks(writer: Writer, ids: readonly string[]): Promise<void> {
  const keys = clickKeys(writer, ids)
  const copy = ch`
INSERT INTO converted_click_rows
SELECT *
FROM clicks
WHERE ${keys}
  AND (clicked_at, id) NOT IN (SELECT clicked_at, id FROM converted_click_rows WHERE ${keys})`
  await runStatement(writer.stores.clickhouse, copy, 'import.converted_clicks')
}

async function readClicks(writer: Writer, ids: readonly string[]): Promise<Map<string, Attributes>> {
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
