import type { Click } from '../../../schema/click.ts'
import { type Campaign, campaigns, type Source, sources } from './catalogue.ts'
import type { Draws } from './draws.ts'
import { exchangeRate } from './rates.ts'
import { type DemoPlan, drawsOf, type Visit, visitsByDay } from './visits.ts'

/** A row of `import clicks`; omitted fields are absent. */
export type ClickRow = Partial<Omit<Click, 'subIds'>> & {
  id: string
  clickedAt: string
  subIds: Partial<Click['subIds']>
  exchangeRate?: number
}

/** Yields the clicks of the window, oldest first. */
export function* clickRows(plan: DemoPlan): Generator<ClickRow> {
  for (const { day, visits } of visitsByDay(plan)) {
    const draws = drawsOf(plan, 'clicks', day)
    for (const visit of visits) {
      if (visit.clickedMs > plan.nowMs) break
      yield clickRow(plan, visit, draws)
    }
  }
}

/** @returns the id of the newest human click of today or yesterday */
export function newestClickId(plan: DemoPlan): string | undefined {
  const rows = [...clickRows({ ...plan, days: 2 })]
  return rows.findLast(({ isBot, isTest }) => !isBot && !isTest)?.id
}

/** The id of the click of a visit. */
export function clickIdOf(plan: DemoPlan, { number }: Visit): string {
  return `clk-${plan.tag}-${number}`
}

/** Cost factors of countries with less expensive clicks; 1 elsewhere. */
const costFactors: Readonly<Record<string, number>> = {
  IN: 0.6,
  ID: 0.6,
  PH: 0.7,
  TH: 0.8,
  CO: 0.8,
  AR: 0.8,
  BR: 0.9,
  PL: 0.8,
}

function clickRow(plan: DemoPlan, visit: Visit, draws: Draws): ClickRow {
  const { visitor, clickedMs } = visit
  const { location, device, kind } = visitor
  const campaign: Campaign = campaigns[visit.campaign]
  const source: Source = sources[campaign.source]
  const [offerId, landingPageId] = visitor.path
  const creative = draws.pick(campaign.creatives)
  const isSearch = source.category === 'search'
  const paid = campaign.costPerClick
  const rate = exchangeRate(source.currency, plan.currency, clickedMs)
  return {
    id: clickIdOf(plan, visit),
    clickedAt: new Date(clickedMs).toISOString(),
    campaignId: visit.campaign,
    offerId,
    landingPageId: visit.campaign === 'cmp-retargeting' ? null : landingPageId,
    trafficSourceId: campaign.source,
    visitorId: visitor.id,
    country: location.country,
    region: location.region,
    city: location.city,
    ...device,
    language: kind === 'bot' ? null : location.language,
    referrer: kind === 'bot' ? null : draws.pickShared(source.referrers),
    ip: visitor.ip,
    subIds: {
      sub1: kind === 'test' ? 'test' : `adset-${draws.between(1, 6)}`,
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
      cost: Number((paid * (costFactors[location.country] ?? 1) * (0.55 + 0.9 * draws.unit())).toFixed(4)),
      currency: source.currency,
      ...(rate !== null && { exchangeRate: rate }),
    }),
    isBot: kind === 'bot',
    isTest: kind === 'test',
  }
}

function letters(draws: Draws): string {
  return draws.between(36 ** 4, 36 ** 5 - 1).toString(36)
}
