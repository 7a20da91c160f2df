import type { Metrics } from '../../../schema/metrics.ts'
import {
  type Attributes,
  type ClickAttributeFields,
  type ConversionAttributeFields,
  clickAttributes,
  conversionAttributes,
  type SharedFields,
  sharedAttributes,
} from './attributes.ts'
import type { Entities } from './generators.ts'

// An independent model of the numbers: plain code over plain rows, without SQL, sums or code of `src`.

/** An amount in a file: in the account's currency, or in another one with an exchange rate or the converted amount. */
interface Amount {
  amount: number
  foreign?: { exchangeRate: number } | { base: number } | 'unconvertible'
}

export interface ClickLine extends ClickAttributeFields {
  id: string
  visitorId?: string
  atMs: number
  cost?: Amount
  isBot?: boolean
  isTest?: boolean
}

export interface ConversionLine extends ConversionAttributeFields {
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

/** A row without an id has the id of its time and dimensions. */
export interface CostLine extends SharedFields {
  id?: string
  atMs: number
  cost: Amount
  updatedAtMs?: number
}

export interface EventLine {
  id: string
  origin: 'server' | 'browser'
  generation: number
  atMs: number
  eventName: string
  clickId?: string
  visitorId?: string
  campaignId?: string
  properties?: Record<string, string | number | boolean>
}

export const statuses = ['approved', 'pending', 'declined', 'hold', 'refunded', 'chargeback'] as const
export type Status = (typeof statuses)[number]

export interface Tally {
  inserted: number
  updated: number
  duplicates: number
  rejected: number
}

/** The part of a click that metrics use; the cost in millionths of the account's currency. */
export interface CountedClick {
  atMs: number
  attributes: Attributes
  cost: bigint
  /** The visitor, or the click itself without one. */
  visitor: string
  isBot: boolean
}

/** An event that is not of a test click; whether its click is of a bot, and its visitor, else that of its click, else its click. */
export interface CountedEvent extends Omit<CountedClick, 'cost'> {
  eventName: string
}

/** The part of a conversion that metrics use; the revenue in millionths of the account's currency. */
export interface CountedConversion {
  atMs: number
  /** When its click was, if that is stored, else `atMs`. */
  clickedMs: number
  attributes: Attributes
  status: Status
  revenue: bigint
}

/** The part of a cost that metrics use, in millionths of the account's currency. */
export interface CountedCost {
  atMs: number
  attributes: Attributes
  cost: bigint
}

export class Model {
  entities: Entities = {}

  /** @returns the row with the present values of its entities */
  withEntities<Row extends { attributes: Attributes }>(row: Row): Row {
    const { traffic_source: source = '', offer = '' } = row.attributes
    const values = { traffic_source_category: this.entities[source], affiliate_network: this.entities[offer] }
    return { ...row, attributes: { ...row.attributes, ...values } }
  }

  readonly #clicks = new Map<string, ClickLine>()
  readonly #conversions = new Map<string, { line: ConversionLine; file: string; number: number }>()

  readonly #events = new Map<string, EventLine>()

  readonly #costs = new Map<string, { line: CostLine; updatedAtMs: number; file: string; number: number }>()

  /** The first click with an id is kept. */
  importClicks(lines: readonly ClickLine[]): Tally {
    const tally = { inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
    for (const line of lines) {
      if (isUnconvertible(line.cost)) tally.rejected += 1
      else if (this.#clicks.has(line.id)) tally.duplicates += 1
      else {
        tally.inserted += 1
        this.#clicks.set(line.id, line)
      }
    }
    return tally
  }

  /** The row with the higher `updatedAt` is kept; on a tie the stored row, but within one file the later line. */
  importConversions(lines: readonly ConversionLine[], file: string): Tally {
    const tally = { inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
    for (const [index, line] of lines.entries()) {
      const number = index + 1
      const present = this.#conversions.get(line.id)
      if (isUnconvertible(line.revenue)) {
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

  /**
   * The row with the higher `updatedAt` is kept, as of conversions. If all rows of a file for one id have no `updatedAt` and the last
   * of them has the values of the stored row, they change nothing. Of equal derived ids in one file the first row is kept.
   * @param startedMs `updatedAt` of rows without one
   */
  importCosts(lines: readonly CostLine[], file: string, startedMs: number): Tally {
    const tally = { inserted: 0, updated: 0, duplicates: 0, rejected: 0 }
    const derived = new Set<string>()
    const before = new Map(this.#costs)
    const replaced = new Map<string, { lines: number; isDated: boolean }>()
    for (const [index, line] of lines.entries()) {
      const { id, atMs, updatedAtMs = startedMs } = line
      const number = index + 1
      const key = id ?? JSON.stringify([atMs, dimensionsOf(line)])
      if (isUnconvertible(line.cost) || (id === undefined && derived.has(key))) {
        tally.rejected += 1
        continue
      }
      if (id === undefined) derived.add(key)
      const present = this.#costs.get(key)
      const isLater = present && updatedAtMs - present.updatedAtMs
      const isOfSameFile = present?.file === file && number > present.number
      if (isLater === undefined) tally.inserted += 1
      else if (isLater > 0 || (isLater === 0 && isOfSameFile)) tally.updated += 1
      else {
        tally.duplicates += 1
        continue
      }
      this.#costs.set(key, { line, updatedAtMs, file, number })
      const ofKey = replaced.get(key) ?? { lines: 0, isDated: false }
      replaced.set(key, { lines: ofKey.lines + 1, isDated: ofKey.isDated || line.updatedAtMs !== undefined })
    }
    for (const [key, { lines: count, isDated }] of replaced) {
      const stored = before.get(key)
      if (!stored || isDated || costValues(stored.line) !== costValues(this.#costs.get(key)?.line)) continue
      this.#costs.set(key, stored)
      tally.updated -= count
      tally.duplicates += count
    }
    return tally
  }

  get costs(): CountedCost[] {
    return [...this.#costs.values()].map(({ line }) => ({
      atMs: line.atMs,
      attributes: sharedAttributes(line),
      cost: baseOf(line.cost),
    }))
  }

  /** The campaign of a click, including bots and tests. */
  campaignOf(clickId: string): string | undefined {
    return this.#clicks.get(clickId)?.campaignId
  }

  /** @returns the lines with new keys */
  storeEvents(lines: readonly EventLine[]): EventLine[] {
    return lines.filter((line) => {
      const key = `${line.origin} ${line.id} ${line.generation}`
      if (this.#events.has(key)) return false
      this.#events.set(key, line)
      return true
    })
  }

  /** Blanks personal fields of a visitor: of clicks, and of conversions and events of these clicks. */
  erase(visitorId: string): void {
    const isErased = (clickId: string | undefined) => this.#clicks.get(clickId ?? '')?.visitorId === visitorId
    for (const { line } of this.#conversions.values()) if (isErased(line.clickId)) delete line.subIds
    for (const event of this.#events.values()) {
      if (event.visitorId !== visitorId && !isErased(event.clickId)) continue
      delete event.visitorId
      delete event.properties
    }
    for (const click of this.#clicks.values()) {
      if (click.visitorId === visitorId) for (const field of personalOfClick) delete click[field]
    }
  }

  /** Bots are included, tests are not. */
  get clicks(): CountedClick[] {
    return [...this.#clicks.values()]
      .filter(({ isTest }) => !isTest)
      .map((line) => ({
        atMs: line.atMs,
        attributes: clickAttributes(line),
        cost: baseOf(line.cost),
        visitor: line.visitorId === undefined ? `click ${line.id}` : `visitor ${line.visitorId}`,
        isBot: line.isBot === true,
      }))
  }

  /** @param clicksFromMs from when clicks are retained */
  eventsOf(clicksFromMs: number): CountedEvent[] {
    return [...this.#events.values()].flatMap((line) => {
      const stored = this.#clicks.get(line.clickId ?? '')
      const click = stored && stored.atMs >= clicksFromMs ? stored : undefined
      if (click?.isTest) return []
      const visitorId = line.visitorId ?? click?.visitorId
      const { origin, eventName, atMs, properties = {} } = line
      const texts = Object.entries(properties).map(([name, value]) => [
        `property:${name}`,
        typeof value === 'string' ? value : JSON.stringify(value),
      ])
      const attributes: Attributes = {
        ...(click && clickAttributes(click)),
        ...(line.campaignId && { campaign: line.campaignId }),
        ...Object.fromEntries(texts),
        event_name: eventName,
        event_origin: origin,
      }
      const visitor = visitorId === undefined ? `click ${line.clickId}` : `visitor ${visitorId}`
      return [{ atMs, eventName, attributes, visitor, isBot: click?.isBot === true }]
    })
  }

  /** Conversions without tests; missing attributes are taken from the click. */
  get conversions(): CountedConversion[] {
    return [...this.#conversions.values()].flatMap(({ line }) => {
      if (line.isTest) return []
      const click = this.#clicks.get(line.clickId ?? '')
      const { atMs, status } = line
      const attributes = conversionAttributes(line, click)
      return [{ atMs, clickedMs: click?.atMs ?? atMs, status, attributes, revenue: baseOf(line.revenue) }]
    })
  }
}

const personalOfClick =
  `visitorId region city referrer subIds utmSource utmMedium utmCampaign utmTerm utmContent`.split(
    ' ',
  ) as (keyof ClickLine & 'city')[]

function dimensionsOf(line: CostLine): [string, unknown][] {
  return Object.entries(sharedAttributes(line)).sort()
}

function costValues(line: CostLine | undefined): string {
  if (!line) return ''
  return JSON.stringify([line.atMs, dimensionsOf(line), line.cost.amount, !line.cost.foreign, `${baseOf(line.cost)}`])
}

function updatedAtOf({ updatedAtMs, createdAtMs, atMs }: ConversionLine): number {
  return updatedAtMs ?? createdAtMs ?? atMs
}

/** Zero is zero in every currency. */
const isUnconvertible = (given: Amount | undefined) => given?.foreign === 'unconvertible' && given.amount !== 0

/** Millionths of the account's currency; a foreign amount at its exchange rate, rounded half away from zero. */
function baseOf(given: Amount | undefined): bigint {
  if (given === undefined) return 0n
  const { amount, foreign } = given
  if (foreign === undefined || foreign === 'unconvertible') return BigInt(amount)
  return 'base' in foreign ? BigInt(foreign.base) : quotient(BigInt(amount) * BigInt(foreign.exchangeRate), 1_000_000n)
}

/** All metrics over some rows. Sums are exact; ratios are computed from sums and rounded at the end. */
export function metricsOf(
  clicks: readonly CountedClick[],
  conversions: readonly CountedConversion[],
  costs: readonly CountedCost[],
): Metrics {
  const withStatus = (...statuses: Status[]) => conversions.filter(({ status }) => statuses.includes(status))
  const revenueOf = (rows: readonly CountedConversion[]) => rows.reduce((sum, { revenue }) => sum + revenue, 0n)
  const approved = withStatus('approved')
  const reversed = withStatus('refunded', 'chargeback')
  const cost = [...clicks, ...costs].reduce((sum, row) => sum + row.cost, 0n)
  const revenue = revenueOf(approved)
  const clickCount = BigInt(clicks.length)
  const count = BigInt(approved.length)
  return {
    clicks: clicks.length,
    conversions: approved.length,
    revenue: inUnits(revenue),
    pendingConversions: withStatus('pending').length,
    holdConversions: withStatus('hold').length,
    declinedConversions: withStatus('declined').length,
    refundedConversions: reversed.length,
    pendingRevenue: inUnits(revenueOf(withStatus('pending', 'hold'))),
    refundedRevenue: inUnits(revenueOf(reversed)),
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

function quotient(dividend: bigint, divisor: bigint): bigint {
  const [a, b] = divisor < 0n ? [-dividend, -divisor] : [dividend, divisor]
  return a < 0n ? -((-2n * a + b) / (2n * b)) : (2n * a + b) / (2n * b)
}

/** Converts millionths to the nearest double. */
export function inUnits(millionths: bigint): number {
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(7, '0')
  return Number(`${millionths < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`) + 0
}
