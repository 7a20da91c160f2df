import { type CampaignId, type Offer, type OfferId, offers } from './catalogue.ts'
import { clickIdOf } from './clicks.ts'
import type { Draws } from './draws.ts'
import { type Outcome, outcomesByDay, type Sale, type Status } from './outcomes.ts'
import { exchangeRate } from './rates.ts'
import { type DemoPlan, dateText, dayMs, drawsOf } from './visits.ts'

/** A row of `import conversions`; omitted fields are absent or copied from the click. */
export interface ConversionRow {
  id: string
  source: 'cpa' | 'revenue'
  status: Status
  externalStatus: string
  eventName: string
  convertedAt: string
  createdAt: string
  updatedAt: string
  clickId?: string
  visitorId?: string
  campaignId?: CampaignId
  offerId: OfferId
  transactionId: string
  payout?: number
  revenue: number
  currency: string
  exchangeRate?: number
  couponCode?: string
  isTest: boolean
}

/**
 * Yields the conversions of the window by the day of their click. Each status change is a row with the same id and a
 * later `updatedAt`.
 */
export function* conversionRows(plan: DemoPlan): Generator<ConversionRow> {
  for (const { day, outcomes } of outcomesByDay(plan)) {
    for (const outcome of outcomes) yield* rowsOf(plan, outcome)
    yield* rowsWithoutClick(plan, day, drawsOf(plan, 'without click', day))
  }
}

function* rowsOf(plan: DemoPlan, { visit, sales }: Outcome): Generator<ConversionRow> {
  for (const [index, sale] of sales.entries()) {
    const number = index === 0 ? visit.number : `${visit.number}-${index + 1}`
    yield* statesOf(plan, `cnv-${plan.tag}-${number}`, sale, { clickId: clickIdOf(plan, visit) })
  }
}

/** Conversions per 1,000 clicks without a stored click: orders by telephone, and clicks that were lost. */
const withoutClickPerThousand = 0.35

function* rowsWithoutClick(plan: DemoPlan, day: number, draws: Draws): Generator<ConversionRow> {
  const date = dateText(day)
  const { tag } = plan
  for (let left = draws.count((withoutClickPerThousand * plan.perDay) / 1000); left > 0; left--) {
    const atMs = day * dayMs + draws.between(0, dayMs - 1)
    const states = [{ status: 'approved', atMs: atMs + 60_000 }] as const
    if (draws.chance(0.3)) {
      const sale: Sale = {
        offerId: 'off-bramble-pet',
        name: 'lead',
        atMs,
        amount: 32,
        coupon: null,
        isTest: false,
        states,
      }
      yield* statesOf(plan, `cnv-${tag}-${date}-lost${left}`, sale, { clickId: `clk-${tag}-${date}-lost${left}` })
    } else {
      const amount = draws.between(59, 240)
      const coupon = draws.chance(0.5) ? 'SLEEP10' : null
      const sale: Sale = {
        offerId: 'off-luma-blanket',
        name: 'phone_order',
        atMs,
        amount,
        coupon,
        isTest: false,
        states,
      }
      const campaignId = draws.chance(0.5) ? 'cmp-luma-meta-broad' : undefined
      yield* statesOf(plan, `cnv-${tag}-${date}-phone${left}`, sale, campaignId ? { campaignId } : {})
    }
  }
}

type Origin = Pick<ConversionRow, 'clickId' | 'campaignId'>

function* statesOf(plan: DemoPlan, id: string, sale: Sale, origin: Origin): Generator<ConversionRow> {
  const offer: Offer = offers[sale.offerId]
  const rate = exchangeRate(offer.currency, plan.currency, sale.atMs)
  for (const { status, atMs } of sale.states) {
    if (atMs > plan.nowMs) return
    yield {
      id,
      source: offer.network ? 'cpa' : 'revenue',
      status,
      externalStatus: (offer.network ? networkStatuses : paymentStatuses)[status],
      eventName: sale.name,
      convertedAt: new Date(sale.atMs).toISOString(),
      createdAt: new Date(sale.states[0]?.atMs ?? atMs).toISOString(),
      updatedAt: new Date(atMs).toISOString(),
      ...origin,
      offerId: sale.offerId,
      transactionId: `${offer.network ? offer.network.slice(0, 3).toUpperCase() : 'ord'}-${id.slice('cnv-'.length)}`,
      ...(offer.network && { payout: sale.amount }),
      revenue: sale.amount,
      currency: offer.currency,
      ...(rate !== null && { exchangeRate: rate }),
      ...(sale.coupon && { couponCode: sale.coupon }),
      isTest: sale.isTest,
    }
  }
}

const networkStatuses: Record<Status, string> = {
  pending: 'PENDING',
  approved: 'LOCKED',
  declined: 'REJECTED',
  hold: 'IN_REVIEW',
  refunded: 'REVERSED',
  chargeback: 'REVERSED_CHARGEBACK',
}

const paymentStatuses: Record<Status, string> = {
  pending: 'processing',
  approved: 'succeeded',
  declined: 'failed',
  hold: 'requires_action',
  refunded: 'refunded',
  chargeback: 'disputed',
}
