import { dayMs } from '../../stores/timing/units.ts'
import { type Campaign, campaigns, type DemoSource, sources } from './catalogue.ts'
import type { Draws } from './draws.ts'
import shares from './tables/shares.json' with { type: 'json' }
import { type Demo, drawsOf, type Visit, visitsByDay } from './visits.ts'

/** Yields the clicks of the window, oldest first; omitted fields are absent. */
export function* clickRows(demo: Demo) {
  for (const { day, visits } of visitsByDay(demo)) {
    const draws = drawsOf(demo, 'clicks', day)
    for (const visit of visits) {
      if (visit.clickedMs > demo.nowMs) break
      yield clickRow(demo, visit, draws)
    }
  }
}

/** @returns the id of the newest human click of today or yesterday */
export function newestClickId(demo: Demo): string | undefined {
  const rows = [...clickRows({ ...demo, days: 2 })]
  return rows.findLast(({ isBot, isTest }) => !isBot && !isTest)?.id
}

export function clickIdOf(demo: Demo, { number }: Visit): string {
  return `clk-${demo.tag}-${number}`
}

/** Cost factors of countries with less expensive clicks; 1 elsewhere. */
const costFactors: Readonly<Record<string, number>> = shares.costOfCountry
const perDollar: Readonly<Record<string, number>> = shares.unitsPerDollar

function clickRow(demo: Demo, visit: Visit, draws: Draws) {
  const { visitor, clickedMs } = visit
  const { utcOffsetMinutes: _, language, ...place } = visitor.location
  const [isBot, isTest] = [visitor.kind === 'bot', visitor.kind === 'test']
  const campaign: Campaign = campaigns[visit.campaign]
  const source: DemoSource = sources[campaign.source]
  const [offerId, landingPageId] = visitor.path
  const creative = draws.pick(campaign.creatives)
  const isSearch = source.category === 'search'
  const paid = campaign.costPerClick
  const rate = exchangeRate(source.currency, demo.currency, clickedMs)
  return {
    id: clickIdOf(demo, visit),
    clickedAt: new Date(clickedMs).toISOString(),
    campaignId: visit.campaign,
    offerId,
    landingPageId: visit.campaign === 'cmp-retargeting' ? null : landingPageId,
    trafficSourceId: campaign.source,
    visitorId: visitor.id,
    ...place,
    ...visitor.device,
    language: isBot ? null : language,
    referrer: isBot ? null : draws.pickShared(source.referrers),
    ip: visitor.ip,
    subIds: {
      sub1: isTest ? 'test' : `adset-${draws.between(1, 6)}`,
      sub2: creative,
      ...(source.category === 'native' && { sub3: `site-${draws.between(1000, 1180)}` }),
      ...(source.category === 'push' && { sub3: `zone-${draws.between(20, 95)}` }),
    },
    externalClickId: source.clickIdStart && `${source.clickIdStart}${letters(draws)}${letters(draws)}`,
    utmSource: source.utm[0],
    utmMedium: source.utm[1],
    utmCampaign: visit.campaign.slice('cmp-'.length),
    utmTerm: isSearch ? creative : null,
    utmContent: isSearch ? null : creative,
    ...(paid !== null && {
      cost: Number((paid * (costFactors[place.country] ?? 1) * (0.55 + 0.9 * draws.unit())).toFixed(4)),
      currency: source.currency,
      ...(rate !== null && { exchangeRate: rate }),
    }),
    isBot,
    isTest,
  }
}

const letters = (draws: Draws) => draws.between(36 ** 4, 36 ** 5 - 1).toString(36)

/**
 * Computes a fictitious exchange rate at an instant.
 * @returns units of the account's currency per unit of the row's, with 4 decimals; null for equal currencies
 */
export function exchangeRate(currency: string, accountCurrency: string, atMs: number): number | null {
  if (currency === accountCurrency) return null
  const swing = 1 + 0.015 * Math.sin((2 * Math.PI * atMs) / (57 * dayMs))
  const middle = (perDollar[accountCurrency] ?? 1) / (perDollar[currency] ?? 1)
  return Number((middle * swing).toFixed(4))
}
