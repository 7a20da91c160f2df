import { type Click, subIdNames } from '../../schema/click.ts'
import type { Room } from '../room.ts'
import { type PageKey, type PageOf, toPage } from '../sql/page.ts'
import { selectRows } from '../sql/rows.ts'
import { toInstantText } from '../time/range.ts'
import type { ClickPlan } from './plan.ts'
import { clickKeysSql, clickRowsSql, conversionCountsSql } from './sql.ts'

/** A click as it is stored: absent text is empty, amounts are decimal text. */
type StoredClick = Record<(typeof subIdNames)[number] | TextField | PlaceField, string> & {
  id: string
  clickedAtMs: number
  cost: string | null
  costBase: string | null
  isBot: boolean
  isTest: boolean
}
type PlaceField = 'campaignId' | 'offerId' | 'landingPageId' | 'trafficSourceId'
type TextField =
  | 'visitorId'
  | 'country'
  | 'region'
  | 'city'
  | 'device'
  | 'os'
  | 'osVersion'
  | 'browser'
  | 'browserVersion'
  | 'language'
  | 'referrer'
  | 'userAgent'
  | 'ip'
  | 'externalClickId'
  | 'utmSource'
  | 'utmMedium'
  | 'utmCampaign'
  | 'utmTerm'
  | 'utmContent'
  | 'currency'

/**
 * Reads one page of clicks, newest first; each click that was there at the start of a walk comes exactly once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listClicks(room: Room, plan: ClickPlan): Promise<PageOf<Click>> {
  const page = toPage(await readKeys(room, plan), plan.limit, (key) => key, plan.boundTo)
  if (page.data.length === 0) return { ...page, data: [] }
  const [stored, counts] = await Promise.all([
    selectRows<StoredClick>(room.stores.clickhouse, clickRowsSql(plan.accountId, page.data), { label: 'clicks.rows' }),
    selectRows<{ id: string; conversionCount: number }>(
      room.stores.clickhouse,
      conversionCountsSql(plan.accountId, page.data),
      { label: 'clicks.conversions' },
    ),
  ])
  const byId = new Map(stored.map((row) => [row.id, row]))
  const countOf = new Map(counts.map(({ id, conversionCount }) => [id, conversionCount]))
  const nameOf = await namesOf(room, plan.accountId, stored)
  const data = page.data.flatMap(({ id }) => {
    const row = byId.get(id)
    return row ? [toClick(row, plan.baseCurrency, nameOf, countOf.get(id) ?? 0)] : []
  })
  return { ...page, data }
}

/** Reads up to `limit + 1` different keys; goes on reading where repeated rows took the places of others. */
async function readKeys({ stores }: Room, plan: ClickPlan): Promise<PageKey[]> {
  const keys: PageKey[] = []
  let from = plan.after
  while (keys.length <= plan.limit) {
    const wanted = plan.limit + 1 - keys.length
    const rows = await selectRows<{ clickedAtMs: number; id: string }>(
      stores.clickhouse,
      clickKeysSql(plan, from, wanted),
      { label: 'clicks.page' },
    )
    for (const { clickedAtMs, id } of rows) {
      const last = keys.at(-1)
      if (last?.id !== id || last.atMs !== clickedAtMs) keys.push({ atMs: clickedAtMs, id })
    }
    if (rows.length < wanted) break
    from = keys.at(-1)
  }
  return keys
}

type NameOf = Record<PlaceField, (id: string) => string | null>

async function namesOf({ names }: Room, accountId: string, rows: readonly StoredClick[]): Promise<NameOf> {
  const find = async (table: Parameters<typeof names.find>[1], field: PlaceField) => {
    const found = await names.find(
      accountId,
      table,
      rows.map((row) => row[field]),
    )
    return (id: string) => found.get(id) ?? null
  }
  const [campaignId, offerId, landingPageId, trafficSourceId] = await Promise.all([
    find('campaigns', 'campaignId'),
    find('offers', 'offerId'),
    find('landing_pages', 'landingPageId'),
    find('traffic_sources', 'trafficSourceId'),
  ])
  return { campaignId, offerId, landingPageId, trafficSourceId }
}

function toClick(row: StoredClick, baseCurrency: string, nameOf: NameOf, conversionCount: number): Click {
  const textOf = (field: TextField | PlaceField) => row[field] || null
  const amountOf = (amount: string | null) => (amount === null ? null : Number(amount))
  return {
    id: row.id,
    clickedAt: toInstantText(row.clickedAtMs),
    campaignId: textOf('campaignId'),
    campaignName: nameOf.campaignId(row.campaignId),
    offerId: textOf('offerId'),
    offerName: nameOf.offerId(row.offerId),
    landingPageId: textOf('landingPageId'),
    landingPageName: nameOf.landingPageId(row.landingPageId),
    trafficSourceId: textOf('trafficSourceId'),
    trafficSourceName: nameOf.trafficSourceId(row.trafficSourceId),
    visitorId: textOf('visitorId'),
    country: textOf('country'),
    region: textOf('region'),
    city: textOf('city'),
    device: textOf('device') as Click['device'],
    os: textOf('os'),
    osVersion: textOf('osVersion'),
    browser: textOf('browser'),
    browserVersion: textOf('browserVersion'),
    language: textOf('language'),
    referrer: textOf('referrer'),
    userAgent: textOf('userAgent'),
    ip: textOf('ip'),
    subIds: Object.fromEntries(subIdNames.map((name) => [name, row[name] || null])),
    externalClickId: textOf('externalClickId'),
    utmSource: textOf('utmSource'),
    utmMedium: textOf('utmMedium'),
    utmCampaign: textOf('utmCampaign'),
    utmTerm: textOf('utmTerm'),
    utmContent: textOf('utmContent'),
    cost: amountOf(row.cost),
    currency: textOf('currency'),
    costBase: amountOf(row.costBase),
    baseCurrency,
    isBot: row.isBot,
    isTest: row.isTest,
    converted: conversionCount > 0,
    conversionCount,
  }
}
