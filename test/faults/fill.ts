import { scopes } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { countStoredEvents } from '../../src/query/monthlyEvents.ts'
import type { Stores } from '../../src/stores/open.ts'
import { changeTables, type StoredRow, storeClicks, storeConversions, storeMetadata } from '../kit/rows.ts'
import type { Load } from './load.ts'

type BothStores = Pick<Stores, 'clickhouse' | 'postgres'>

/** Clicks that events belong to. */
export const clicks = 200
const account = 'acme'
const limit = 10_000_000

/** Makes an account whose limits no load reaches, with clicks and conversions of closed days. @returns its key */
export async function fill(stores: BothStores): Promise<string> {
  await setPlanLimits(stores.postgres, 'scale', {
    requestsPerMinute: limit,
    eventsPerMinute: limit,
    identifierEventsPerMinute: limit,
  })
  await createAccount(stores.postgres, { id: account, name: account, plan: 'scale', currency: 'USD' })
  const created = await createKey(stores.postgres, {
    accountId: account,
    name: 'load',
    scopes,
    expiresAt: null,
  })
  if (!created) throw new Error('The account is missing.')
  await storeMetadata(stores, 'campaigns', account, [{ id: 'camp', name: 'Autumn' }])
  await storeClicks(stores, account, Array.from({ length: clicks }, clickOf))
  await storeConversions(stores, account, Array.from({ length: clicks / 10 }, conversionOf))
  return created.key
}

const dayMs = 86_400_000
/** Midnight before this run. Rows lie in the ten days before it. */
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const [from, to] = [10, 1].map((days) => new Date(todayMs - days * dayMs).toISOString().slice(0, 10))

/** A zone where it is about noon, so that no day of it ends while the load goes on. In these names the sign is turned. */
const hoursBehindNoon = new Date().getUTCHours() - 12
const tz = hoursBehindNoon === 0 ? 'Etc/GMT' : `Etc/GMT${hoursBehindNoon > 0 ? '+' : '-'}${Math.abs(hoursBehindNoon)}`

/** Questions whose answers stay the same for hours: events change no figure. */
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
    clicked_at: momentOf(number),
    campaign_id: 'camp',
    country: ['DE', 'FR', 'BR'][number % 3] ?? '',
    cost_base: (number % 7) / 100,
  }
}

function conversionOf(_: unknown, number: number): StoredRow {
  return {
    id: `conversion-${number}`,
    click_id: `click-${number * 10}`,
    click_at: momentOf(number * 10),
    converted_at: momentOf(number * 10),
    campaign_id: 'camp',
    transaction_id: `txn-${number}`,
    revenue_base: number,
  }
}

/** Spread over ten days. */
function momentOf(number: number): string {
  const atMs = todayMs - (1 + (number % 10)) * dayMs + (600 + number) * 60_000
  return new Date(atMs).toISOString().replace('T', ' ').slice(0, -1)
}

/** Compares what a load was told was accepted with what is stored. @returns what differs, empty when nothing does */
export async function reckon({ clickhouse }: BothStores, load: Load): Promise<string[]> {
  const faults: string[] = []
  const stored = new Map<string, number>()
  const answer = await clickhouse.client.query({
    query: 'SELECT id, count() AS rows, max(generation) AS generation FROM pixel_events FINAL GROUP BY id',
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  for (const { id, rows, generation } of await answer.json<{ id: string; rows: number; generation: number }>()) {
    stored.set(id, rows)
    if (rows !== 1 || generation !== 0) faults.push(`${id} is stored ${rows} times, last as generation ${generation}`)
    if (!load.answered.has(id)) faults.push(`${id} is stored and nobody sent it`)
  }
  for (const id of load.answered) if (!stored.has(id)) faults.push(`${id} was answered 200 and is not stored`)
  await changeTables({ clickhouse }, 'OPTIMIZE TABLE pixel_events FINAL')
  let counted = 0
  // A clock that was wrong may have dated events into a neighbouring month.
  for (const monthMs of monthsAround(new Date())) {
    counted += (await countStoredEvents(clickhouse, [account], monthMs, { label: 'faults' })).get(account) ?? 0
  }
  if (counted !== stored.size) faults.push(`The ceiling counts ${counted} of ${stored.size} events`)
  return faults
}

/** @returns first moments of the month before, this one and the next */
function monthsAround(now: Date): number[] {
  return [-1, 0, 1].map((shift) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + shift))
}
