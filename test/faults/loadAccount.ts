import { setPlanLimits } from '../../src/accounts/plans.ts'
import type { Stores } from '../../src/stores/open.ts'
import { makeAccountWithKey } from '../kit/accounts.ts'
import { type StoredRow, storeClicks, storeConversions, storeMetadata } from '../kit/rows.ts'

/** Number of stored clicks that events refer to, `click-0` and up. */
export const clickCount = 200
export const loadAccountId = 'acme'
const limitPerMinute = 10_000_000

/** Creates an account without effective limits, with clicks and conversions of past days. @returns its key */
export async function createLoadAccount(stores: Pick<Stores, 'clickhouse' | 'postgres'>): Promise<string> {
  await setPlanLimits(stores.postgres, 'scale', {
    requestsPerMinute: limitPerMinute,
    eventsPerMinute: limitPerMinute,
    identifierEventsPerMinute: limitPerMinute,
  })
  const { key } = await makeAccountWithKey(stores, loadAccountId)
  await storeMetadata(stores, 'campaigns', loadAccountId, [{ id: 'camp', name: 'Autumn' }])
  await storeClicks(stores, loadAccountId, Array.from({ length: clickCount }, clickOf))
  await storeConversions(stores, loadAccountId, Array.from({ length: clickCount / 10 }, conversionOf))
  return key
}

const dayMs = 86_400_000
/** Midnight UTC before this run. Rows are dated within the ten days before it. */
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const [from, to] = [10, 1].map((days) => new Date(todayMs - days * dayMs).toISOString().slice(0, 10))

/** A zone where it is about noon, so that no local day ends during the load. TRAP: the sign in `Etc/GMT±N` is inverted. */
const hoursBehindNoon = new Date().getUTCHours() - 12
const tz = hoursBehindNoon === 0 ? 'Etc/GMT' : `Etc/GMT${hoursBehindNoon > 0 ? '+' : '-'}${Math.abs(hoursBehindNoon)}`

/** Reads with responses that stay the same for hours: stored events change none of them. */
export const readPaths = [
  `/clicks?limit=50&from=${from}&to=${to}`,
  '/clicks?limit=200&converted=true',
  `/conversions?from=${from}&to=${to}`,
  '/conversions/search?q=txn-1&fields=transactionId',
  '/campaigns',
  '/campaigns/camp',
  `/stats/overview?days=20&tz=${encodeURIComponent(tz)}`,
  `/stats/daily?days=20&tz=${encodeURIComponent(tz)}`,
  `/reports?group_by=country&from=${from}&to=${to}`,
  `/reports?group_by=campaign&from=${from}&to=${to}`,
].map((path) => `/api/v1${path}`)

function clickOf(_: unknown, number: number): StoredRow {
  return {
    id: `click-${number}`,
    clicked_at: timeOf(number),
    campaign_id: 'camp',
    country: ['DE', 'FR', 'BR'][number % 3] ?? '',
    cost_base: (number % 7) / 100,
  }
}

function conversionOf(_: unknown, number: number): StoredRow {
  return {
    id: `conversion-${number}`,
    click_id: `click-${number * 10}`,
    click_at: timeOf(number * 10),
    converted_at: timeOf(number * 10),
    campaign_id: 'camp',
    transaction_id: `txn-${number}`,
    revenue_base: number,
  }
}

function timeOf(number: number): string {
  const atMs = todayMs - (1 + (number % 10)) * dayMs + (600 + number) * 60_000
  return new Date(atMs).toISOString().replace('T', ' ').slice(0, -1)
}
