import {
  type Campaign,
  campaigns,
  type LandingPage,
  landingPages,
  type Offer,
  type OfferId,
  offers,
} from './catalogue.ts'
import type { Draws } from './draws.ts'
import { type DemoPlan, dayMs, drawsOf, type Visit, visitsByDay } from './visits.ts'

/** Pixel events and sales of a click. */
export interface Outcome {
  visit: Visit
  /** Pixel events in order of time; empty without a pixel. */
  steps: readonly Step[]
  /** The conversion, then its renewals. */
  sales: readonly Sale[]
}

export interface Step {
  name: string
  atMs: number
  /** Whether the event has the click id, or only the visitor id. */
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

export type Status = 'approved' | 'pending' | 'declined' | 'hold' | 'refunded' | 'chargeback'

export interface State {
  status: Status
  atMs: number
}

/** Yields the outcomes of each day's clicks, oldest day first, including future ones. */
export function* outcomesByDay(plan: DemoPlan): Generator<{ day: number; draws: Draws; outcomes: Outcome[] }> {
  for (const { day, visits } of visitsByDay(plan)) {
    const draws = drawsOf(plan, 'outcomes', day)
    yield { day, draws, outcomes: visits.map((visit) => outcomeOf(visit, draws)) }
  }
}

const secondMs = 1000
const minuteMs = 60_000
const hourMs = 3_600_000

/** Conversion factors of device types. */
const deviceLift = { desktop: 1.2, mobile: 0.95, tablet: 1.05, other: 0.2 }
const countryLift: Readonly<Record<string, number>> = {
  US: 1.08,
  GB: 1.05,
  DE: 1,
  CA: 0.98,
  IN: 0.75,
  ID: 0.8,
  PH: 0.85,
}
const returnLift = 1.7

function outcomeOf(visit: Visit, draws: Draws): Outcome {
  const { visitor } = visit
  if (visitor.kind === 'bot') return { visit, steps: [], sales: [] }
  if (visitor.kind === 'test') {
    const sales = draws.chance(0.6) ? [saleOf(visit, draws, true)] : []
    return { visit, steps: [], sales }
  }
  const campaign: Campaign = campaigns[visit.campaign]
  const [offerId, pageId] = visitor.path
  const page: LandingPage | undefined =
    pageId && visit.campaign !== 'cmp-retargeting' ? landingPages[pageId] : undefined
  const probability =
    campaign.conversionRate *
    (page?.lift ?? 0.9) *
    deviceLift[visitor.device.device] *
    (countryLift[visitor.location.country] ?? 0.92) *
    (visit.isReturn ? returnLift : 1)
  const offer: Offer = offers[offerId]
  const canConvert = offer.kind !== 'install' || visitor.device.os === 'Android'
  const sales = canConvert && draws.chance(probability) ? [saleOf(visit, draws, false)] : []
  if (sales[0] && offer.kind === 'subscription') sales.push(...renewalsOf(sales[0], draws))
  return { visit, steps: page?.hasPixel ? stepsOf(visit, offer, sales[0], draws) : [], sales }
}

/** Event names of conversions by kind of offer. */
const saleNames = {
  lead: 'lead',
  install: 'app_install',
  order: 'purchase',
  subscription: 'subscription_started',
} as const

function saleOf({ clickedMs, visitor, campaign }: Visit, draws: Draws, isTest: boolean): Sale {
  const [offerId] = visitor.path
  const offer: Offer = offers[offerId]
  const atMs = Math.floor(clickedMs + delayMs(draws, offer.kind))
  const couponShare = campaign === 'cmp-paloma-creators' ? 0.65 : 0.2
  const coupon = offer.coupons && draws.chance(couponShare) ? draws.pickShared(offer.coupons) : null
  const full = offer.kind === 'order' ? offer.amount * (0.7 + 0.75 * draws.unit()) : offer.amount
  return {
    offerId,
    name: saleNames[offer.kind],
    atMs,
    amount: Number((coupon ? full * 0.87 : full).toFixed(2)),
    coupon,
    isTest,
    states: isTest ? [{ status: 'approved', atMs: reportedMs(atMs, draws) }] : statesOf(offer, atMs, draws),
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
function reportedMs(atMs: number, draws: Draws): number {
  return atMs + draws.between(2 * secondMs, 4 * minuteMs)
}

function statesOf(offer: Offer, atMs: number, draws: Draws): State[] {
  const later = (fromMs: number, lowDays: number, highDays: number) =>
    fromMs + draws.between(lowDays * dayMs, highDays * dayMs)
  const first = reportedMs(atMs, draws)
  const states: State[] = []
  const add = (status: Status, stateMs: number) => states.push({ status, atMs: stateMs })
  add(draws.pickShared(offer.network ? firstOfNetwork : firstOfShop), first)
  if (states[0]?.status === 'pending') {
    const reviewed = draws.pickShared(offer.network ? reviewOfNetwork : reviewOfShop)
    if (reviewed) add(reviewed, offer.network ? later(first, 2, 16) : later(first, 1, 5))
  }
  const last = states.at(-1) as State
  if (last.status === 'hold' && draws.chance(0.85)) {
    add(draws.chance(0.6) ? 'approved' : 'declined', later(last.atMs, 4, 12))
  } else if (last.status === 'approved') {
    const end = draws.unit()
    const refundShare = offer.network ? 0.02 : 0.055
    if (end < refundShare) add('refunded', later(last.atMs, 1, 28))
    else if (end < refundShare + 0.009) add('chargeback', later(last.atMs, 12, 40))
  }
  return states
}

const firstOfNetwork = [
  ['pending', 74],
  ['approved', 19],
  ['hold', 3],
  ['declined', 4],
] as const
const firstOfShop = [
  ['approved', 92],
  ['pending', 6],
  ['declined', 2],
] as const
const reviewOfNetwork = [
  ['approved', 75],
  ['declined', 15],
  ['hold', 6],
  [null, 4],
] as const
const reviewOfShop = [
  ['approved', 88],
  ['declined', 12],
] as const

/** Event names of the pixel by kind of offer: the first three steps of its funnel, and the sale. Installs have no pixel. */
const shopSteps = ['visit', 'signup', 'trial_started', 'purchase'] as const
const stepNames = {
  lead: ['visit', 'cta_click', 'form_start', 'lead'],
  install: shopSteps,
  order: shopSteps,
  subscription: shopSteps,
} as const

/** Share of visitors without a sale who take the second step, and of those the third. */
const secondShare = 0.22
const thirdShare = 0.27

function stepsOf({ clickedMs }: Visit, offer: Offer, sale: Sale | undefined, draws: Draws): Step[] {
  // One visitor in eight blocks pixels: only the sales are known.
  if (draws.chance(0.125)) return []
  const steps: Step[] = []
  let atMs = clickedMs
  const add = (name: string, lowMs: number, highMs: number, hasClickId = true) => {
    atMs += draws.between(lowMs, highMs)
    steps.push({ name, atMs, hasClickId })
  }
  const [visited, second, third, sold] = stepNames[offer.kind]
  add(visited, 700, 4 * secondMs)
  if (!sale && !draws.chance(secondShare)) return steps
  add(second, 8 * secondMs, 90 * secondMs)
  if (!sale && !draws.chance(thirdShare)) return draws.chance(0.1) ? [...steps, comesBack(steps, draws)] : steps
  add(third, 5 * secondMs, 60 * secondMs)
  if (sale) steps.push({ name: sold, atMs: Math.max(sale.atMs, atMs + secondMs), hasClickId: true, isSale: true })
  return steps
}

/** Visitors who open the page again from their history have a visitor id and no click id. */
function comesBack(steps: readonly Step[], draws: Draws): Step {
  const last = steps.at(-1)?.atMs ?? 0
  return { name: 'return_view', atMs: last + draws.between(hourMs, 3 * dayMs), hasClickId: false }
}
