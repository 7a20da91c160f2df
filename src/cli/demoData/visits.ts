import { dayMs, hourMs } from '../../stores/timing/units.ts'
import { type Draws, openDraws, type Shares, sumOf } from './draws.ts'
import audiences from './tables/audiences.json' with { type: 'json' }
import campaigns from './tables/campaigns.json' with { type: 'json' }
import cities from './tables/cities.json' with { type: 'json' }
import countries from './tables/countries.json' with { type: 'json' }
import deviceModels from './tables/deviceModels.json' with { type: 'json' }
import markets from './tables/markets.json' with { type: 'json' }
import shares from './tables/shares.json' with { type: 'json' }
import sources from './tables/sources.json' with { type: 'json' }

export interface Demo {
  /** Number of UTC days, including today. */
  days: number
  /** Present time in epoch milliseconds: no row is later. */
  nowMs: number
  /** Currency of the account, ISO 4217. */
  currency: string
  /** Average number of clicks. */
  perDay: number
  /** Four characters derived from seed and clicks per day; part of every id, so that ids of two demos differ. */
  tag: string
}

type DemoSize = Pick<Demo, 'days' | 'nowMs' | 'currency'> & { seed: number; clicks: number }

/**
 * Returns a demo of this size. Demos with equal tags have equal rows on the days that both include, so a demo that is filled again
 * on the next day only gets the new day.
 */
export function demoOf({ seed, clicks, ...rest }: DemoSize): Demo {
  const perDay = clicks / rest.days
  const tag = openDraws(`${seed} ${perDay}`).between(36 ** 3, 36 ** 4 - 1)
  return { ...rest, perDay, tag: tag.toString(36) }
}

/** The last day, counted from 1970-01-01 UTC. */
export const todayOf = ({ nowMs }: Demo) => Math.floor(nowMs / dayMs)

export const timeText = (ms: number) => new Date(ms).toISOString()

/** Returns the row of a table. TypeScript knows the ids of a table of JSON, but not that another table refers to them. */
export const rowOf = <Table extends object>(table: Table, id: string) => table[id as keyof Table]

/** Clicks of each campaign on each day of twelve weeks from a Sunday on, relative to other campaigns; 0: the campaign is paused. */
const dailyShares = Array.from({ length: 84 }, (_, day): Shares => {
  const [week, weekday] = [Math.floor(day / 7), day % 7]
  const rows = Object.entries<{ weeks: number[]; weekdays: number[] }>(campaigns)
  return Object.fromEntries(
    rows.map(([id, { weeks, weekdays }]) => [id, (weeks[week] ?? 0) * (weekdays[weekday] ?? 0)]),
  )
})
const averageDay = dailyShares.reduce((sum, day) => sum + sumOf(day), 0) / dailyShares.length

/** The shares of a day; 1970-01-01 was a Thursday. */
export const sharesOf = (day: number) => dailyShares[(day + 4) % dailyShares.length] ?? {}
const clicksOf = (demo: Demo, day: number) => (demo.perDay * sumOf(sharesOf(day))) / averageDay

export type Visit = ReturnType<typeof drawVisit>

/** Yields the visits of the window by time, including future ones of the last day. */
export function* visitsOf(demo: Demo): Generator<Visit> {
  const today = todayOf(demo)
  for (let day = today - demo.days + 1; day <= today; day++) {
    const count = openDraws(`${demo.tag} ${day}`).count(clicksOf(demo, day))
    const visits = Array.from({ length: count }, (_, index) => drawVisit(demo, day, index))
    yield* visits.sort((one, other) => one.clickedMs - other.clickedMs)
  }
}

/** A visit depends only on its day and its number within the day. A returning visitor is the one of an earlier day and number. */
function drawVisit(demo: Demo, day: number, index: number) {
  const id = idOf(demo, day, index)
  const draws = openDraws(id)
  const kind = draws.pickShared(shares.kinds)
  const isReturn = kind === 'return'
  const firstDay = isReturn ? day - Math.floor(draws.exponential(2)) : day
  const visitor = drawVisitor(demo, firstDay, isReturn ? draws.count(draws.unit() * clicksOf(demo, firstDay)) : index)
  const isRetargeted = isReturn && (draws.chance(0.3) || !sharesOf(day)[visitor.campaignId])
  const localMs = Number(draws.pickShared(shares.hours)) * hourMs + draws.between(0, hourMs - 1)
  return {
    id,
    kind,
    clickedMs: day * dayMs + ((localMs - rowOf(cities, visitor.city).utcOffsetHours * hourMs + dayMs) % dayMs),
    ...visitor,
    ...(kind === 'bot' && { visitorId: null, language: null, ...drawDevice(draws, 'bots') }),
    ...(kind === 'test' && { visitorId: `vis-${demo.tag}-qa` }),
    ...(isRetargeted && { campaignId: 'cmp-retargeting', landingPageId: null }),
  }
}

const idOf = ({ tag }: Demo, day: number, index: number) => `${tag}-${day}-${index}`

/** The fields of a click that a visitor keeps. */
function drawVisitor(demo: Demo, day: number, index: number) {
  const visitorId = `vis-${idOf(demo, day, index)}`
  const draws = openDraws(visitorId)
  const campaignId = draws.pickShared(sharesOf(day))
  const { row, market, paths } = rowOf(campaigns, campaignId)
  const [offerId = '', landingPageId = null] = draws.pickShared(paths).split('/')
  const country = draws.pickShared(rowOf(markets, market))
  const city = draws.pickShared(rowOf(countries, country).cities)
  const { region } = rowOf(cities, city)
  const language = draws.chance(0.08) ? 'en-US' : rowOf(countries, country).language
  const number = draws.between(0, 0xffff)
  // Last octet, or last 80 bits, zeroed; in the ranges reserved for documentation and tests.
  const ip = draws.chance(0.3) ? `2001:db8:${number.toString(16)}::` : `198.${18 + (number & 1)}.${number >>> 8}.0`
  const device = drawDevice(draws, rowOf(sources, row.trafficSourceId).audience)
  return { visitorId, campaignId, offerId, landingPageId, country, region, city, language, ip, ...device }
}

function drawDevice(draws: Draws, audience: string) {
  const model = rowOf(deviceModels, draws.pickShared(rowOf(audiences, audience)))
  const { device, os, browser }: { device: string; os: string; browser: string } = model
  const osVersion = draws.pick<string>(model.osVersions)
  // A browser without versions has the version of its system.
  const browserVersion = draws.pick<string | undefined>(model.browserVersions) ?? osVersion
  return { device, os, osVersion, browser, browserVersion, userAgent: model.userAgent }
}
