import { dayMs } from '../../stores/timing/units.ts'
import { type Draws, openDraws } from './draws.ts'
import campaigns from './tables/campaigns.json' with { type: 'json' }
import countries from './tables/countries.json' with { type: 'json' }
import shares from './tables/shares.json' with { type: 'json' }
import sources from './tables/sources.json' with { type: 'json' }
import { type Demo, rowOf, timeText, type Visit, visitsOf } from './visits.ts'

/** Yields the clicks of the window, oldest first; omitted fields are absent. */
export function* clickRows(demo: Demo) {
  for (const visit of visitsOf(demo)) {
    if (visit.kind !== 'phone' && visit.kind !== 'lost' && visit.clickedMs <= demo.nowMs) yield clickRow(demo, visit)
  }
}

/** @returns the id of the newest human click of today or yesterday */
export function newestClickId(demo: Demo): string | undefined {
  const rows = [...clickRows({ ...demo, days: 2 })]
  return rows.findLast(({ isBot, isTest }) => !isBot && !isTest)?.id
}

function clickRow(demo: Demo, { id, kind, clickedMs, ...fields }: Visit) {
  const draws = openDraws(`click ${id}`)
  const [isBot, isTest] = [kind === 'bot', kind === 'test']
  const { row: campaign, creatives } = rowOf(campaigns, fields.campaignId)
  const { row: source, referrers, clickIdStart, utm } = rowOf(sources, campaign.trafficSourceId)
  const creative = draws.pick<string>(creatives)
  const cost =
    campaign.costValue && campaign.costValue * rowOf(countries, fields.country).cost * (0.55 + 0.9 * draws.unit())
  // In the user agent of a model, `{os_}` is the version of the system with underscores.
  const versions = { os_: fields.osVersion.replaceAll('.', '_'), os: fields.osVersion, browser: fields.browserVersion }
  return {
    id: `clk-${id}`,
    clickedAt: timeText(clickedMs),
    ...fields,
    userAgent: fields.userAgent.replace(/{(\w+)}/g, (_, name) => rowOf(versions, name)),
    trafficSourceId: campaign.trafficSourceId,
    referrer: isBot ? null : draws.pickShared<string>(referrers) || null,
    subIds: {
      sub1: isTest ? 'test' : `adset-${draws.between(1, 6)}`,
      sub2: creative,
      ...(source.category === 'native' && { sub3: `site-${draws.between(1000, 1180)}` }),
      ...(source.category === 'push' && { sub3: `zone-${draws.between(20, 95)}` }),
    },
    externalClickId: clickIdStart && `${clickIdStart}${letters(draws)}${letters(draws)}`,
    utmSource: utm[0],
    utmMedium: utm[1],
    utmCampaign: fields.campaignId.slice('cmp-'.length),
    [source.category === 'search' ? 'utmTerm' : 'utmContent']: creative,
    ...(cost !== null && { cost: Number(cost.toFixed(4)), ...moneyOf(demo, source.currency, clickedMs) }),
    isBot,
    isTest,
  }
}

const letters = (draws: Draws) => draws.between(36 ** 4, 36 ** 5 - 1).toString(36)

/** @returns the currency of an amount, and a fictitious exchange rate of that instant unless the account has the currency */
export function moneyOf(demo: Demo, currency: string, atMs: number): { currency: string; exchangeRate?: number } {
  if (currency === demo.currency) return { currency }
  const perDollar = (of: string) => rowOf<Record<string, number>>(shares.unitsPerDollar, of) ?? 1
  const swing = 1 + 0.015 * Math.sin((2 * Math.PI * atMs) / (57 * dayMs))
  return { currency, exchangeRate: Number(((perDollar(demo.currency) / perDollar(currency)) * swing).toFixed(4)) }
}
