import type { Click } from '../../../schema/click.ts'
import type { RouteContext } from '../../http/context.ts'
import { findLatestVersions } from '../../query/latestVersions.ts'
import { readWatermark } from '../../query/listOrder.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { type EntityIds, type EntityNames, readEntityNames } from '../../rows/entityNames.ts'
import { type StoredSubIds, toAmount, toSubIds, toText } from '../../rows/values.ts'
import { selectRows, smallFinal } from '../../stores/clickhouse/select.ts'
import type { ClickPlan } from './plan.ts'
import { clickKeysSql, clickListSql, clickRowsSql, conversionCountsSql, convertedQuery } from './sql.ts'

/** A click as it is stored: absent text is empty, amounts are decimal text. */
type StoredClick = Record<TextField, string> &
  EntityIds &
  StoredSubIds & {
    id: string
    clickedAtMs: number
    cost: string | null
    costBase: string | null
    isBot: boolean
    isTest: boolean
    storedAtMs: number
  }
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

/** A page, and until when it is known to be whole; null where it is not walked by the moment of storing. */
type WalkedPage = PageRows<Click> & { asOf: string | null }

/**
 * Reads one page of clicks; each click that was there at the start of a walk comes exactly once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listClicks(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<WalkedPage> {
  if (plan.order.isOldestFirst) return listInOrder(context, plan, signal)
  if (plan.converted) {
    return { ...toPage(await findConverted(context, plan, signal), plan.limit, keyOf, plan.fingerprint), asOf: null }
  }
  const page = toPage(await findClicks(context, plan, signal), plan.limit, (key) => key, plan.fingerprint)
  return { ...page, data: await readClicks(context, plan, page.data, signal), asOf: null }
}

function findConverted(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<Click[]> {
  const options = { label: 'clicks.converted', signal }
  const readConverted = async (keys: PageKey[]) => {
    const clicks = await readClicks(context, plan, keys, signal)
    return clicks.filter(({ converted }) => converted)
  }
  return findLatestVersions(
    context.stores.clickhouse,
    convertedQuery(plan),
    plan.after,
    plan.limit + 1,
    options,
    readConverted,
  )
}

function keyOf({ clickedAt, id }: Click): PageKey {
  return { atMs: Date.parse(clickedAt), id }
}

/** Reads one page of clicks, oldest first or by the moment that they were stored. */
async function listInOrder(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<WalkedPage> {
  const { stores } = context
  const isByStoring = plan.order.updatedSinceMs !== undefined
  const asOfMs = isByStoring ? await readWatermark(stores.postgres, plan.accountId, 'clicks') : undefined
  const found = await selectRows<PageKey & { clickedMs: number }>(
    stores.clickhouse,
    clickListSql(plan, asOfMs, plan.limit + 1),
    { label: 'clicks.walk', signal },
  )
  const page = toPage(found, plan.limit, (key) => key, plan.fingerprint)
  const keys = page.data.map(({ id, clickedMs }) => ({ id, atMs: clickedMs }))
  const data = await readClicks(context, plan, keys, signal)
  return { ...page, data, asOf: asOfMs === undefined ? null : toInstantText(asOfMs) }
}

/** Reads the clicks at these keys, in their order. */
async function readClicks(
  context: RouteContext,
  plan: ClickPlan,
  keys: PageKey[],
  signal: AbortSignal,
): Promise<Click[]> {
  const { clickhouse } = context.stores
  if (keys.length === 0) return []
  const [stored, counts] = await Promise.all([
    readRows(context, plan, keys, signal),
    selectRows<{ id: string; conversionCount: number }>(clickhouse, conversionCountsSql(plan.accountId, keys), {
      label: 'clicks.conversions',
      signal,
      settings: smallFinal,
    }),
  ])
  const byId = new Map(stored.map((row) => [row.id, row]))
  const countOf = new Map(counts.map(({ id, conversionCount }) => [id, conversionCount]))
  const placesOf = await readEntityNames(context.nameCache, plan.accountId, stored)
  return keys.flatMap(({ id }) => {
    const row = byId.get(id)
    return row ? [toClick(row, placesOf(row), plan.baseCurrency, countOf.get(id) ?? 0)] : []
  })
}

/** Reads the rows at these keys, in no order; those of converted clicks where they lie close together. */
async function readRows({ stores }: RouteContext, plan: ClickPlan, keys: PageKey[], signal: AbortSignal) {
  const from = (table: Parameters<typeof clickRowsSql>[0], some: PageKey[]) =>
    selectRows<StoredClick>(stores.clickhouse, clickRowsSql(table, plan.accountId, some), {
      label: 'clicks.rows',
      signal,
    })
  if (!plan.converted) return from('clicks', keys)
  const rows = await from('converted_click_rows', keys)
  const found = new Set(rows.map(({ id }) => id))
  const missing = keys.filter(({ id }) => !found.has(id))
  return missing.length === 0 ? rows : [...rows, ...(await from('clicks', missing))]
}

/**
 * Finds up to `limit + 1` different keys, in a short stretch of time first and in a longer one where it holds too few.
 * Goes on reading where repeated rows took the places of others.
 */
async function findClicks({ stores }: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<PageKey[]> {
  const keys: PageKey[] = []
  let from = plan.after
  for (const sinceMs of timeSlices(plan)) {
    let isRead = false
    while (!isRead) {
      const missing = plan.limit + 1 - keys.length
      const rows = await selectRows<PageKey>(stores.clickhouse, clickKeysSql(plan, from, sinceMs, missing), {
        label: 'clicks.page',
        signal,
      })
      for (const row of rows) {
        if (row.id === from?.id && row.atMs === from.atMs) continue
        keys.push(row)
        from = row
      }
      if (keys.length > plan.limit) return keys
      isRead = rows.length < missing
    }
  }
  return keys
}

const dayMs = 86_400_000

/** Where to stop reading, one after the other: a day back, a month back, and the beginning. */
function timeSlices({ after, range, nowMs }: ClickPlan): (number | undefined)[] {
  const topMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const shortOnes = [1, 32].map((days) => topMs - days * dayMs)
  return [...shortOnes.filter((sinceMs) => sinceMs > (range.fromMs ?? 0)), range.fromMs]
}

function toClick(row: StoredClick, places: EntityNames, baseCurrency: string, conversionCount: number): Click {
  return {
    id: row.id,
    clickedAt: toInstantText(row.clickedAtMs),
    ...places,
    visitorId: toText(row.visitorId),
    country: toText(row.country),
    region: toText(row.region),
    city: toText(row.city),
    device: toText(row.device) as Click['device'],
    os: toText(row.os),
    osVersion: toText(row.osVersion),
    browser: toText(row.browser),
    browserVersion: toText(row.browserVersion),
    language: toText(row.language),
    referrer: toText(row.referrer),
    userAgent: toText(row.userAgent),
    ip: toText(row.ip),
    subIds: toSubIds(row),
    externalClickId: toText(row.externalClickId),
    utmSource: toText(row.utmSource),
    utmMedium: toText(row.utmMedium),
    utmCampaign: toText(row.utmCampaign),
    utmTerm: toText(row.utmTerm),
    utmContent: toText(row.utmContent),
    cost: toAmount(row.cost),
    currency: toText(row.currency),
    costBase: toAmount(row.costBase),
    baseCurrency,
    isBot: row.isBot,
    isTest: row.isTest,
    converted: conversionCount > 0,
    conversionCount,
    storedAt: toInstantText(row.storedAtMs),
  }
}
