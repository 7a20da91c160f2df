import { dayMs, hourMs, minuteMs } from '../../stores/timing/units.ts'
import { type Draws, openDraws, type Shares } from './draws.ts'
import campaigns from './tables/campaigns.json' with { type: 'json' }
import countries from './tables/countries.json' with { type: 'json' }
import landingPages from './tables/landingPages.json' with { type: 'json' }
import offers from './tables/offers.json' with { type: 'json' }
import reporters from './tables/reporters.json' with { type: 'json' }
import salesTable from './tables/sales.json' with { type: 'json' }
import shares from './tables/shares.json' with { type: 'json' }
import { rowOf, type Visit } from './visits.ts'

type Step = { name: string; atMs: number; hasClickId: boolean; value?: number }
type StatesAfter = Record<string, { fromDays: number; toDays: number; shares: Shares }>
type State = [status: string, atMs: number]
type Sale = { name: string; atMs: number; amount: number; coupon?: string | undefined; states: State[] }

/** @returns the conversion, then its renewals; pixel events in order of time, empty without a pixel; including future ones */
export function outcomeOf(visit: Visit) {
  const draws = openDraws(`outcome ${visit.id}`)
  const sales = draws.chance(probabilityOf(visit)) ? drawSales(visit, draws) : []
  const hasPixel = visit.landingPageId && rowOf(landingPages, visit.landingPageId).hasPixel
  const isPerson = visit.kind === 'person' || visit.kind === 'return'
  return { sales, steps: hasPixel && isPerson ? drawSteps(visit, sales[0], draws) : [] }
}

/** The probability that a visit converts. */
function probabilityOf({ kind, campaignId, offerId, landingPageId, clickedMs, ...visit }: Visit): number {
  const fixed = rowOf<Record<string, number>>(shares.conversionsOfKind, kind)
  if (fixed !== undefined) return fixed
  if (rowOf(offers, offerId).kind === 'install' && visit.os !== 'Android') return 0
  // Each week another landing page stops converting, for two weeks. So its campaigns lose money in the last seven days.
  const { lift, failsInWeeks } = rowOf(landingPages, landingPageId ?? 'none') ?? { lift: 0.9, failsInWeeks: [] }
  if (failsInWeeks.some((week) => week === Math.floor(clickedMs / (7 * dayMs)) % 6)) return 0
  const liftOfVisitor = rowOf(shares.liftOfDevice, visit.device) * rowOf(countries, visit.country).lift
  return rowOf(campaigns, campaignId).conversionRate * lift * liftOfVisitor * (kind === 'return' ? 1.7 : 1)
}

function drawSales({ kind, campaignId, offerId, clickedMs }: Visit, draws: Draws): Sale[] {
  const offer = rowOf(offers, offerId)
  const { sale, shareSoon } = rowOf(salesTable, offer.kind)
  const atMs = Math.ceil(clickedMs + draws.exponential(draws.chance(shareSoon) ? 38 * minuteMs : 1.9 * dayMs))
  const hasCoupon = draws.chance(campaignId === 'cmp-paloma-creators' ? 0.65 : 0.2)
  const coupon = hasCoupon ? draws.pick<string | undefined>(offer.coupons) : undefined
  const full = offer.row.payout * (offer.kind === 'order' ? 0.7 + 0.75 * draws.unit() : 1)
  const amount = Number((coupon ? full * 0.87 : full).toFixed(2))
  const { statesAfter } = rowOf(reporters, offer.reporter)
  const sales: Sale[] = [{ name: sale, atMs, amount, coupon, states: drawStates(statesAfter, 'sale', atMs, draws) }]
  const isRenewed = offer.kind === 'subscription' && kind !== 'test' && sales[0]?.states.at(-1)?.[0] === 'approved'
  for (let month = 1; isRenewed && month <= 2 && draws.chance(0.62); month++) {
    const renewedMs = atMs + month * 30 * dayMs + draws.between(0, hourMs)
    const states = drawStates(statesAfter, 'renewal', renewedMs, draws)
    sales.push({ name: 'subscription_renewed', atMs: renewedMs, amount: offer.row.payout, states })
  }
  return sales
}

/** @returns the statuses of a sale that follow an event or a status, with their times; the last status has none, or follows itself */
function drawStates(after: StatesAfter, last: string, lastMs: number, draws: Draws): State[] {
  const following = after[last]
  const status = following && draws.pickShared(following.shares)
  if (!status || status === last) return []
  const atMs = lastMs + Math.ceil(draws.between(following.fromDays * dayMs, following.toDays * dayMs))
  return [[status, atMs], ...drawStates(after, status, atMs, draws)]
}

/** @param sale a visitor without a sale takes only a share of the steps */
function drawSteps({ clickedMs, offerId }: Visit, sale: Sale | undefined, draws: Draws): Step[] {
  const steps: Step[] = []
  let atMs = clickedMs
  // One visitor in eight blocks pixels: only the sales are known.
  if (draws.chance(0.125)) return steps
  for (const { name, fromMs, toMs, share } of rowOf(salesTable, rowOf(offers, offerId).kind).steps) {
    if (!sale && !draws.chance(share)) break
    atMs += draws.between(fromMs, toMs)
    steps.push({ name, atMs, hasClickId: true })
  }
  if (sale) {
    steps.push({ name: sale.name, atMs: Math.max(sale.atMs, atMs + 1000), hasClickId: true, value: sale.amount })
  } else if (draws.chance(0.08)) {
    // A visitor who opens the page again from the history has a visitor id and no click id.
    steps.push({ name: 'return_view', atMs: atMs + draws.between(hourMs, 3 * dayMs), hasClickId: false })
  }
  return steps
}
