import type { Metrics } from '../../../schema/metrics.ts'
import type { Dimension } from '../../../schema/report.ts'

// The rules of the numbers once more, in plain code over plain rows: no SQL, no rollup, nothing of `src`.

/** What clicks and conversions are grouped by; what was not given is absent. */
interface Dimensions {
  campaignId?: string
  offerId?: string
  landingPageId?: string
  trafficSourceId?: string
  country?: string
  device?: string
  os?: string
  browser?: string
}

/** How an amount may be given in a file: in the account's currency, or in another with a rate or its worth. */
interface Amount {
  /** Millionths. */
  amount: number
  foreign?: { exchangeRate: number } | { base: number } | 'unconvertible'
}

/** A click as it is put into a file. */
export interface ClickLine extends Dimensions {
  id: string
  atMs: number
  cost?: Amount
  isBot?: boolean
  isTest?: boolean
}

/** A conversion as it is put into a file. */
export interface ConversionLine extends Dimensions {
  id: string
  atMs: number
  status: Status
  source?: 'cpa' | 'revenue'
  clickId?: string
  updatedAtMs?: number
  createdAtMs?: number
  revenue?: Amount
  isTest?: boolean
}

export const statuses = ['approved', 'pending', 'declined', 'hold', 'refunded', 'chargeback'] as const
export type Status = (typeof statuses)[number]

/** What an import says it did. */
export interface Tally {
  inserted: number
  updated: number
  duplicates: number
  rejected: number
}

/** What counts of a click: its moment, its dimensions, millionths of the account's currency. */
export interface CountedClick {
  atMs: number
  dimensions: Dimensions
  cost: bigint
}

/** What counts of a conversion. */
export interface CountedConversion {
  atMs: number
  dimensions: Dimensions
  status: Status
  revenue: bigint
}

/** One account's rows, as they should be. */
export class Model {
  readonly #clicks = new Map<string, ClickLine>()
  readonly #conversions = new Map<string, { line: ConversionLine; file: string; number: number }>()

  /** The first click with an id wins. */
  importClicks(lines: readonly ClickLine[]): Tally {
    const tally = { inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
    for (const line of lines) {
      if (line.cost?.foreign === 'unconvertible') tally.rejected += 1
      else if (this.#clicks.has(line.id)) tally.duplicates += 1
      else {
        tally.inserted += 1
        this.#clicks.set(line.id, line)
      }
    }
    return tally
  }

  /** The higher `updatedAt` wins; on a tie the stored row stays, but of one file the later line wins. */
  importConversions(lines: readonly ConversionLine[], file: string): Tally {
    const tally = { inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
    for (const [index, line] of lines.entries()) {
      const number = index + 1
      const present = this.#conversions.get(line.id)
      if (line.revenue?.foreign === 'unconvertible') {
        tally.rejected += 1
        continue
      }
      const isLater = present && updatedAtOf(line) - updatedAtOf(present.line)
      const isOfSameFile = present?.file === file && number > present.number
      if (isLater === undefined) tally.inserted += 1
      else if (isLater > 0 || (isLater === 0 && isOfSameFile)) tally.updated += 1
      else {
        tally.duplicates += 1
        continue
      }
      this.#conversions.set(line.id, { line, file, number })
    }
    return tally
  }

  /** The campaign of a click, whatever it is. */
  campaignOf(clickId: string): string | undefined {
    return this.#clicks.get(clickId)?.campaignId
  }

  /** Neither bots nor tests. */
  get clicks(): CountedClick[] {
    return this.listedClicks.flatMap(({ line }) =>
      line.isBot || line.isTest ? [] : [{ atMs: line.atMs, dimensions: line, cost: baseOf(line.cost) }],
    )
  }

  /** No tests; what a conversion was not given it has from its click. */
  get conversions(): CountedConversion[] {
    return [...this.#conversions.values()].flatMap(({ line }) => {
      if (line.isTest) return []
      const click = this.#clicks.get(line.clickId ?? '')
      const { atMs, status } = line
      return [{ atMs, status, dimensions: { ...click, ...line }, revenue: baseOf(line.revenue) }]
    })
  }

  /** Every click, with how many conversions it has that are no tests, newest first. */
  get listedClicks(): { line: ClickLine; conversionCount: number }[] {
    const counts = new Map<string, number>()
    for (const { line } of this.#conversions.values()) {
      if (!line.isTest && line.clickId) counts.set(line.clickId, (counts.get(line.clickId) ?? 0) + 1)
    }
    return [...this.#clicks.values()]
      .sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1))
      .map((line) => ({ line, conversionCount: counts.get(line.id) ?? 0 }))
  }
}

function updatedAtOf({ updatedAtMs, createdAtMs, atMs }: ConversionLine): number {
  return updatedAtMs ?? createdAtMs ?? atMs
}

/** Millionths of the account's currency; a foreign amount at its own rate, rounded half away from zero. */
function baseOf(given: Amount | undefined): bigint {
  if (given === undefined) return 0n
  const { amount, foreign } = given
  if (foreign === undefined || foreign === 'unconvertible') return BigInt(amount)
  return 'base' in foreign ? BigInt(foreign.base) : quotient(BigInt(amount) * BigInt(foreign.exchangeRate), 1_000_000n)
}

/** All numbers of the specification over some rows. Sums are exact; ratios come from sums and are rounded at the end. */
export function metricsOf(clicks: readonly CountedClick[], conversions: readonly CountedConversion[]): Metrics {
  const inState = (...wanted: Status[]) => conversions.filter(({ status }) => wanted.includes(status))
  const revenueOf = (rows: readonly CountedConversion[]) => rows.reduce((sum, { revenue }) => sum + revenue, 0n)
  const approved = inState('approved')
  const back = inState('refunded', 'chargeback')
  const cost = clicks.reduce((sum, click) => sum + click.cost, 0n)
  const revenue = revenueOf(approved)
  const clickCount = BigInt(clicks.length)
  const count = BigInt(approved.length)
  return {
    clicks: clicks.length,
    conversions: approved.length,
    revenue: inUnits(revenue),
    pendingConversions: inState('pending').length,
    holdConversions: inState('hold').length,
    declinedConversions: inState('declined').length,
    refundedConversions: back.length,
    pendingRevenue: inUnits(revenueOf(inState('pending', 'hold'))),
    refundedRevenue: inUnits(revenueOf(back)),
    cost: inUnits(cost),
    profit: inUnits(revenue - cost),
    roi: ratio((revenue - cost) * 100_000_000n, cost),
    cr: ratio(count * 100_000_000n, clickCount),
    epc: ratio(revenue, clickCount),
    cpa: ratio(cost, count),
    cpc: ratio(cost, clickCount),
    aov: ratio(revenue, count),
  }
}

/** @param millionths the numerator, times a million */
function ratio(millionths: bigint, denominator: bigint): number | null {
  return denominator === 0n ? null : inUnits(quotient(millionths, denominator))
}

/** Rounded half away from zero. */
function quotient(dividend: bigint, divisor: bigint): bigint {
  const [a, b] = divisor < 0n ? [-dividend, -divisor] : [dividend, divisor]
  return a < 0n ? -((-2n * a + b) / (2n * b)) : (2n * a + b) / (2n * b)
}

/** The double that is nearest to so many millionths. */
export function inUnits(millionths: bigint): number {
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(7, '0')
  return Number(`${millionths < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`) + 0
}

/** The buckets of a report: clicks descending, then id. */
export function reportOf(
  groupBy: Dimension,
  clicks: readonly CountedClick[],
  conversions: readonly CountedConversion[],
): (Metrics & { id: string })[] {
  const bucketOf = ({ atMs, dimensions }: CountedClick | CountedConversion) =>
    groupBy === 'day' ? new Date(atMs).toISOString().slice(0, 10) : (dimensions[fields[groupBy]] ?? '(not set)')
  const ids = new Set([...clicks, ...conversions].map(bucketOf))
  return [...ids]
    .map((id) => {
      const of = (row: CountedClick | CountedConversion) => bucketOf(row) === id
      return { id, ...metricsOf(clicks.filter(of), conversions.filter(of)) }
    })
    .sort((a, b) => b.clicks - a.clicks || (a.id < b.id ? -1 : 1))
}

const fields: Record<Exclude<Dimension, 'day'>, keyof Dimensions> = {
  campaign: 'campaignId',
  country: 'country',
  device: 'device',
  os: 'os',
  browser: 'browser',
  offer: 'offerId',
  landing: 'landingPageId',
  traffic_source: 'trafficSourceId',
}

/** The last `count` dates of a calendar on a wall in that zone, oldest first, and the date that it shows at a moment. */
export function calendarOf(
  tz: string,
  count: number,
  nowMs: number,
): { dates: string[]; dateOf(atMs: number): string } {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: tz })
  const today = Date.parse(clock.format(nowMs))
  const dates = Array.from({ length: count }, (_, index) =>
    new Date(today - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  )
  return { dates, dateOf: (atMs) => clock.format(atMs) }
}
