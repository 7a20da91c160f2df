import type { Stores } from '../../../src/stores/open.ts'
import { rowsOf } from '../../import/runImport.ts'
import { differing } from '../crashes/accountState.ts'
import { type Click, type Conversion, erasedVisitors, type SendingAccount } from './sends.ts'

/** The tables of rows, a line per row with its number of copies, as they must be stored. */
interface Expected {
  clicks: string[]
  conversions: string[]
  events: string[]
  campaigns: string[]
}

const nothing: Expected = { clicks: [], conversions: [], events: [], campaigns: [] }

function expectedOf({ kind, clicks, conversions, events, campaigns }: SendingAccount): Expected {
  if (kind === 'deleted' || kind === 'importing') return nothing
  const isErased = (visitorId: string) => kind === 'erased' && (erasedVisitors as readonly string[]).includes(visitorId)
  const byId = new Map(clicks.map((click) => [click.id, click]))
  const erasedClick = (id: string | undefined) => isErased(byId.get(id ?? '')?.visitorId ?? '')
  return {
    clicks: clicks.map((click) => {
      const { id, clickedAt, campaignId, country, visitorId, cost, isBot, subIds } = click
      const personal = isErased(visitorId) ? ['', ''] : [visitorId, subIds.sub1]
      return line(id, Date.parse(clickedAt), campaignId, country, cost, isBot, ...personal, 1)
    }),
    conversions: conversions.map((conversion) => {
      const { id, clickId, convertedAt, updatedAt, status, revenueBase } = conversion
      const click = byId.get(clickId)
      const personal = click && !erasedClick(clickId) ? [click.visitorId, click.subIds.sub1] : ['', '']
      const campaign = campaignOf(conversion, byId)
      const times = [convertedAt, updatedAt].map((time) => Date.parse(time))
      return line(id, clickId, ...times, status, revenueBase, campaign, ...personal, click ? 1 : 0, 1)
    }),
    events: events.map(({ id, eventName, visitorId, clickId, value, occurredAt }) => {
      const visitor = isErased(visitorId) || erasedClick(clickId) ? '' : visitorId
      return line(id, eventName, visitor, clickId ?? '', value, Date.parse(occurredAt), 1)
    }),
    campaigns: [...campaigns].map(([id, name]) => line(id, name)),
  }
}

const line = (...values: unknown[]) => values.map(String).join(' ')

function campaignOf({ campaignId, clickId }: Conversion, clicks: ReadonlyMap<string, Click>): string {
  return campaignId ?? clicks.get(clickId)?.campaignId ?? ''
}

/** @returns a line per row of an account that is missing, wrong, or stored twice */
export async function compareRows(
  stores: Pick<Stores, 'clickhouse' | 'postgres'>,
  account: SendingAccount,
): Promise<string[]> {
  const expected = expectedOf(account)
  const condition = `account_id = '${account.id}'`
  const stored = async (sql: string) =>
    (await rowsOf<object>(stores, sql)).map((row) => Object.values(row).map(String).join(' '))
  const ms = (column: string) => `toUnixTimestamp64Milli(${column})`
  const campaigns = await stores.postgres<{ id: string; name: string }[]>`
    SELECT id, name FROM campaigns WHERE account_id = ${account.id}`
  const found: Expected = {
    // Not FINAL: a click that is stored twice makes sums wrong after a merge.
    clicks: await stored(`
      SELECT id, ${ms('clicked_at')}, campaign_id, country, toFloat64(cost_base), is_bot, visitor_id, sub1, count()
      FROM clicks WHERE ${condition} GROUP BY ALL`),
    conversions: await stored(`
      SELECT id, click_id, ${ms('converted_at')}, ${ms('updated_at')}, status, toFloat64(revenue_base), campaign_id,
        visitor_id, sub1, click_at IS NOT NULL AS is_attributed, count()
      FROM conversions FINAL WHERE ${condition} GROUP BY ALL`),
    events: await stored(`
      SELECT id, event_name, visitor_id, click_id, value, ${ms('occurred_at')}, count()
      FROM pixel_events FINAL WHERE ${condition} GROUP BY ALL`),
    campaigns: campaigns.map(({ id, name }) => line(id, name)),
  }
  return Object.entries(found).flatMap(([table, lines]) =>
    differing(`${account.id}, ${table}`, lines, expected[table as keyof Expected]),
  )
}

/** What reports must show of an account, by campaign and by day. */
export function expectedReports({ clicks, conversions }: SendingAccount): Record<'campaign' | 'day', string[]> {
  const byId = new Map(clicks.map((click) => [click.id, click]))
  const sums = { campaign: new Map<string, Sums>(), day: new Map<string, Sums>() }
  const add = (campaignId: string, time: string, row: Sums) => {
    for (const [by, bucket] of [
      ['campaign', campaignId || '(not set)'],
      ['day', time.slice(0, 10)],
    ] as const) {
      const before = sums[by].get(bucket) ?? []
      sums[by].set(
        bucket,
        row.map((value, index) => value + (before[index] ?? 0)),
      )
    }
  }
  for (const { campaignId, clickedAt, cost, isBot } of clicks) {
    if (!isBot) add(campaignId, clickedAt, [1, cents(cost), 0, 0, 0])
  }
  for (const conversion of conversions) {
    const { status, revenueBase, convertedAt } = conversion
    const isApproved = status === 'approved'
    const revenue = isApproved ? cents(revenueBase) : 0
    const counts = [isApproved ? 1 : 0, revenue, status === 'pending' ? 1 : 0]
    add(campaignOf(conversion, byId), convertedAt, [0, 0, ...counts])
  }
  return { campaign: reportLines(sums.campaign), day: reportLines(sums.day) }
}

/** Clicks, cost, conversions, revenue, pending conversions; amounts in cents, so that they add up exactly. */
type Sums = number[]

const cents = (amount: number) => Math.round(amount * 100)

function reportLines(buckets: ReadonlyMap<string, Sums>): string[] {
  return Array.from(buckets, ([bucket, sums]) => line(bucket, ...sums))
}

/** The lines of a report, to compare with `expectedReports`. */
export function linesOfReport(rows: readonly Record<string, string | number>[]): string[] {
  return rows.map(({ id, clicks, cost, conversions, revenue, pendingConversions }) =>
    line(id, clicks, cents(Number(cost)), conversions, cents(Number(revenue)), pendingConversions),
  )
}
