import { dayMs, hourMs, minuteMs } from '../../stores/timing/units.ts'
import {
  type Campaign,
  campaigns,
  type LandingPageId,
  landingPages,
  type Offer,
  type OfferId,
  offers,
} from './catalogue.ts'
import type { Draws, Shares } from './draws.ts'
import salesTable from './tables/sales.json' with { type: 'json' }
import shares from './tables/shares.json' with { type: 'json' }
import { type Demo, drawsOf, type Visit, visitsByDay } from './visits.ts'

interface Step {
  name: string
  atMs: number
  hasClickId: boolean
  /** Whether the event reports the sale, with its amount. */
  isSale?: true
}

export interface Sale {
  offerId: OfferId
  name: string
  atMs: number
  /** In the offer's currency. */
  amount: number
  coupon: string | null
  isTest: boolean
  /** All states, oldest first; the first one is the report of the conversion. */
  states: readonly State[]
}

type Status = keyof typeof salesTable.shop.statuses
type State = { status: Status; atMs: number }

/** Yields the outcomes of each day's clicks, oldest day first, including future ones. */
export function* outcomesByDay(demo: Demo) {
  for (const { day, visits } of visitsByDay(demo)) {
    const draws = drawsOf(demo, 'outcomes', day)
    yield { day, outcomes: visits.map((visit) => drawOutcome(visit, draws)) }
  }
}

const secondMs = 1000

/**
 * Landing pages that stop converting: each week the next one, for two weeks. So in the last seven days the campaigns of one of them have
 * costs and hardly any revenue.
 */
const failingPages: readonly LandingPageId[] = [
  'lp-bramble-quote',
  'lp-cobalt-vergleich',
  'lp-atlas-quote',
  'lp-solaro-calculator',
  'lp-luma-quiz',
  'lp-finpilot-list',
]

function isFailing(pageId: LandingPageId, atMs: number): boolean {
  const week = Math.floor(atMs / (7 * dayMs))
  return [week, week - 1].some((of) => failingPages[of % failingPages.length] === pageId)
}

const countryLift: Readonly<Record<string, number>> = shares.liftOfCountry

/** @returns pixel events in order of time, empty without a pixel; the conversion, then its renewals */
function drawOutcome(visit: Visit, draws: Draws): { visit: Visit; steps: Step[]; sales: Sale[] } {
  const { visitor } = visit
  if (visitor.kind === 'bot') return { visit, steps: [], sales: [] }
  if (visitor.kind === 'test') return { visit, steps: [], sales: draws.chance(0.6) ? [saleOf(visit, draws, true)] : [] }
  const campaign: Campaign = campaigns[visit.campaign]
  const [offerId, pageId] = visitor.path
  const page = pageId && visit.campaign !== 'cmp-retargeting' ? landingPages[pageId] : undefined
  const probability =
    campaign.conversionRate *
    (page && pageId && isFailing(pageId, visit.clickedMs) ? 0 : (page?.lift ?? 0.9)) *
    shares.liftOfDevice[visitor.device.device] *
    (countryLift[visitor.location.country] ?? 0.92) *
    (visit.isReturn ? 1.7 : 1)
  const offer: Offer = offers[offerId]
  const canConvert = offer.kind !== 'install' || visitor.device.os === 'Android'
  const sales = canConvert && draws.chance(probability) ? [saleOf(visit, draws, false)] : []
  if (sales[0] && offer.kind === 'subscription') sales.push(...renewalsOf(sales[0], draws))
  return { visit, steps: page?.hasPixel ? drawSteps(visit, offer, sales[0], draws) : [], sales }
}

function saleOf({ clickedMs, visitor, campaign }: Visit, draws: Draws, isTest: boolean): Sale {
  const [offerId] = visitor.path
  const offer: Offer = offers[offerId]
  const atMs = Math.floor(clickedMs + delayMs(draws, offer.kind))
  const couponShare = campaign === 'cmp-paloma-creators' ? 0.65 : 0.2
  const coupon = offer.coupons && draws.chance(couponShare) ? draws.pickShared(offer.coupons) : null
  const full = offer.kind === 'order' ? offer.amount * (0.7 + 0.75 * draws.unit()) : offer.amount
  return {
    offerId,
    name: salesTable.eventOfKind[offer.kind],
    atMs,
    amount: Number((coupon ? full * 0.87 : full).toFixed(2)),
    coupon,
    isTest,
    states: isTest ? [{ status: 'approved', atMs: reportedMs(atMs, draws) }] : drawStates(offer, atMs, draws),
  }
}

function delayMs(draws: Draws, kind: Offer['kind']): number {
  if (kind === 'install') return draws.exponential(14 * minuteMs)
  if (draws.chance(kind === 'lead' ? 0.85 : 0.68)) return draws.exponential(38 * minuteMs) + 40 * secondMs
  return draws.exponential(1.9 * dayMs)
}

function renewalsOf(sale: Sale, draws: Draws): Sale[] {
  if (sale.states.at(-1)?.status !== 'approved') return []
  const renewals: Sale[] = []
  for (let month = 1; month <= 2 && draws.chance(0.62); month++) {
    const atMs = sale.atMs + month * 30 * dayMs + draws.between(0, hourMs)
    const states: State[] = [{ status: draws.chance(0.95) ? 'approved' : 'declined', atMs: reportedMs(atMs, draws) }]
    const amount = Number(offers[sale.offerId].amount.toFixed(2))
    renewals.push({ ...sale, name: 'subscription_renewed', atMs, amount, coupon: null, states })
  }
  return renewals
}

/** The time at which the network or payment provider reports a conversion. */
const reportedMs = (atMs: number, draws: Draws): number => atMs + draws.between(2 * secondMs, 4 * minuteMs)

/** Who reports a sale: how its status changes, and how often it is refunded. */
interface Reporter {
  first: Shares<Status>
  /** The status after a review of a pending sale; null: it stays pending. */
  review: Shares<Status | null>
  reviewDays: readonly [from: number, to: number]
  refunds: number
}

function drawStates(offer: Offer, atMs: number, draws: Draws): State[] {
  const { first, review, reviewDays, refunds } = salesTable[offer.network ? 'network' : 'shop'] as unknown as Reporter
  const states: State[] = []
  const add = (status: Status, stateMs: number) => states.push({ status, atMs: stateMs })
  const addLater = (status: Status, [from, to]: readonly [number, number]) =>
    add(status, (states.at(-1)?.atMs ?? 0) + draws.between(from * dayMs, to * dayMs))
  const reported = reportedMs(atMs, draws)
  add(draws.pickShared(first), reported)
  if (states[0]?.status === 'pending') {
    const reviewed = draws.pickShared(review)
    if (reviewed) addLater(reviewed, reviewDays)
  }
  const last = states.at(-1)?.status
  if (last === 'hold' && draws.chance(0.85)) {
    addLater(draws.chance(0.6) ? 'approved' : 'declined', [4, 12])
  } else if (last === 'approved') {
    const end = draws.unit()
    if (end < refunds) addLater('refunded', [1, 28])
    else if (end < refunds + 0.009) addLater('chargeback', [12, 40])
  }
  return states
}

/** Share of visitors without a sale who take the second step, and how many of them take the third. */
const [secondShare, thirdShare] = [0.22, 0.27]

function drawSteps({ clickedMs }: Visit, offer: Offer, sale: Sale | undefined, draws: Draws): Step[] {
  // One visitor in eight blocks pixels: only the sales are known.
  if (draws.chance(0.125)) return []
  const steps: Step[] = []
  let atMs = clickedMs
  const add = (name: string, lowMs: number, highMs: number, hasClickId = true) => {
    atMs += draws.between(lowMs, highMs)
    steps.push({ name, atMs, hasClickId })
  }
  // The last one is the sale. Installs have no pixel.
  const [visited, second, third, sold] = salesTable.stepsOfKind[offer.kind] as [string, string, string, string]
  add(visited, 700, 4 * secondMs)
  if (!sale && !draws.chance(secondShare)) return steps
  add(second, 8 * secondMs, 90 * secondMs)
  if (!sale && !draws.chance(thirdShare)) {
    // Visitors who open the page again from their history have a visitor id and no click id.
    if (draws.chance(0.1)) add('return_view', hourMs, 3 * dayMs, false)
    return steps
  }
  add(third, 5 * secondMs, 60 * secondMs)
  if (sale) steps.push({ name: sold, atMs: Math.max(sale.atMs, atMs + secondMs), hasClickId: true, isSale: true })
  return steps
}
