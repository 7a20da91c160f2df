import { createHash } from 'node:crypto'
import { dayMs, hourMs, minuteMs } from '../../stores/timing/units.ts'
import { type Campaign, type CampaignId, campaigns, type LandingPageId, type OfferId, sources } from './catalogue.ts'
import { bots, type Device, drawDevice } from './devices.ts'
import { type Draws, openDraws, type Shares } from './draws.ts'
import { type Country, type Location, locationsOf, markets } from './locations.ts'
import shares from './tables/shares.json' with { type: 'json' }

export interface DemoOptions {
  seed: number
  clicks: number
  /** Number of UTC days, including today. */
  days: number
  /** Present time in epoch milliseconds: no row is later. */
  nowMs: number
  /** Currency of the account, ISO 4217. */
  currency: string
}

export interface Demo extends Omit<DemoOptions, 'seed' | 'clicks'> {
  perDay: number
  /** Four characters derived from seed and clicks per day; part of every id, so that ids of two demos differ. */
  tag: string
}

/**
 * Returns a demo of this size. Demos with equal tags have equal rows on the days that both include, so a demo that is filled again
 * on the next day only gets the new day.
 */
export function demoOf({ seed, clicks, ...rest }: DemoOptions): Demo {
  const perDay = clicks / rest.days
  const hash = createHash('sha256').update(`${seed} ${perDay}`).digest()
  return { ...rest, perDay, tag: (hash.readUInt32LE() % 36 ** 4).toString(36).padStart(4, '0') }
}

/** A person, bot or tester; returning visitors click more than once. */
interface Visitor {
  /** null: the client stores no cookie. */
  id: string | null
  kind: 'person' | 'bot' | 'test'
  campaign: CampaignId
  path: readonly [OfferId, LandingPageId | null]
  location: Location
  device: Device
  /** Last octet, or last 80 bits, zeroed; in the ranges reserved for documentation and tests. */
  ip: string
}

export interface Visit {
  /** Day and number within the day: `20261120-00042`. */
  number: string
  clickedMs: number
  visitor: Visitor
  /** The campaign of this click; a returning visitor may come from another campaign. */
  campaign: CampaignId
  isReturn: boolean
}

/** The last day, counted from 1970-01-01 UTC. */
export const todayOf = ({ nowMs }: Demo) => Math.floor(nowMs / dayMs)

export function drawsOf(demo: Demo, kind: string, day: number): Draws {
  return openDraws(`${demo.tag} ${kind} ${day}`)
}

/** `20261120` */
export function dateText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')
}

/** Shares of clicks by returning visitors, bots and testers. */
const [returnShare, botShare, testShare] = [0.2, 0.033, 0.002]
const returnDaysMax = 13

/** Yields the visits of each day of the window, oldest first, including future ones of the last day. */
export function* visitsByDay(demo: Demo): Generator<{ day: number; visits: Visit[] }> {
  const today = todayOf(demo)
  const firstDay = today - demo.days + 1
  const recent: Visitor[][] = []
  for (let day = firstDay - returnDaysMax; day <= today; day++) {
    const draws = drawsOf(demo, 'visits', day)
    const visitors = newVisitors(demo, day, draws)
    recent.unshift(visitors)
    recent.length = Math.min(recent.length, returnDaysMax + 1)
    if (day >= firstDay) yield { day, visits: visitsOf(demo, day, recent, draws) }
  }
}

/** Activity of a campaign on a day: 0 while it is paused, else around 1. */
export function activity(campaign: Campaign, day: number): number {
  const { schedule, weekend, waveDays, waveBy } = campaign
  // 1970-01-01 was a Thursday.
  const weekday = (day + 4) % 7
  if (schedule.kind === 'weekdays' && !schedule.days.includes(weekday)) return 0
  if (schedule.kind === 'flights' && flightDay(schedule, day) >= schedule.onDays) return 0
  const isWeekend = weekday === 0 || weekday === 6
  const weekFactor = ((isWeekend ? weekend : 1) * 7) / (5 + 2 * weekend)
  const wave = 1 + waveBy * Math.sin((2 * Math.PI * (day + 7 * waveDays)) / waveDays)
  return weekFactor * (shares.weekdays[weekday] ?? 1) * wave
}

/** Day of the current period, from 0; days from `onDays` on are a pause. */
export function flightDay({ everyDays, start }: { everyDays: number; start: number }, day: number): number {
  return (day - start) % everyDays
}

/** Share of all days on which a campaign is active, 0 to 1. */
function activeShareOf({ schedule }: Campaign): number {
  if (schedule.kind === 'weekdays') return schedule.days.length / 7
  return schedule.kind === 'flights' ? schedule.onDays / schedule.everyDays : 1
}

const entries = Object.entries(campaigns) as [CampaignId, Campaign][]
const shareOfAll = entries.reduce((sum, [, campaign]) => sum + campaign.share * activeShareOf(campaign), 0)

function newVisitors(demo: Demo, day: number, draws: Draws): Visitor[] {
  const idStart = `vis-${demo.tag}-${dateText(day)}`
  const visitors: Visitor[] = []
  for (const [id, campaign] of entries) {
    const mean = demo.perDay * (campaign.share / shareOfAll) * activity(campaign, day)
    const people = draws.count(mean * (1 - returnShare - botShare - testShare) * (0.9 + 0.2 * draws.unit()))
    for (let index = 0; index < people; index++) {
      visitors.push(drawVisitor(draws, id, `${idStart}-${String(visitors.length).padStart(5, '0')}`))
    }
  }
  return visitors
}

function drawVisitor(draws: Draws, id: CampaignId, visitorId: string): Visitor {
  const campaign: Campaign = campaigns[id]
  const location = draws.pickShared(locationsOf[draws.pickShared<Country>(markets[campaign.market])])
  const language = draws.chance(0.08) && !location.language.startsWith('en') ? 'en-US' : location.language
  return {
    id: visitorId,
    kind: 'person',
    campaign: id,
    path: draws.pickShared(campaign.paths),
    location: language === location.language ? location : { ...location, language },
    device: drawDevice(draws, sources[campaign.source].audience),
    ip: drawIp(draws),
  }
}

function drawIp(draws: Draws): string {
  const number = draws.between(0, 0xffff)
  return draws.chance(0.3) ? `2001:db8:${number.toString(16)}::` : `198.${18 + (number & 1)}.${number >>> 8}.0`
}

function visitsOf(demo: Demo, day: number, recent: readonly Visitor[][], draws: Draws): Visit[] {
  const today = recent[0] ?? []
  const visits: Omit<Visit, 'number'>[] = today.map((visitor) => ({
    clickedMs: drawMoment(draws, day, visitor.location),
    visitor,
    campaign: visitor.campaign,
    isReturn: false,
  }))
  for (let left = draws.count(demo.perDay * returnShare); left > 0; left--) {
    const visitor = draws.pick(recent[Math.floor(draws.exponential(2)) % recent.length] ?? [])
    if (!visitor) continue
    const campaign =
      draws.chance(0.3) && visitor.campaign !== 'cmp-pixelforge-push' ? 'cmp-retargeting' : visitor.campaign
    if (activity(campaigns[campaign], day) === 0) continue
    visits.push({ clickedMs: drawMoment(draws, day, visitor.location), visitor, campaign, isReturn: true })
  }
  const addOthers = (share: number, [from, to]: [number, number], drawOther: () => Partial<Visitor>) => {
    for (let left = draws.count(demo.perDay * share); left > 0 && today.length > 0; left--) {
      const visitor = { ...draws.pick(today), ...drawOther() }
      const clickedMs = day * dayMs + draws.between(from, to)
      visits.push({ clickedMs, visitor, campaign: visitor.campaign, isReturn: false })
    }
  }
  addOthers(botShare, [0, dayMs - 1], () => ({ id: null, kind: 'bot', device: draws.pickShared(bots) }))
  addOthers(testShare, [9 * hourMs, 18 * hourMs], () => ({ id: `vis-${demo.tag}-qa`, kind: 'test' }))
  const date = dateText(day)
  return visits
    .sort((one, other) => one.clickedMs - other.clickedMs)
    .map((visit, index) => ({ number: `${date}-${String(index).padStart(5, '0')}`, ...visit }))
}

/** Draws a time of the UTC day, weighted by local hour. */
function drawMoment(draws: Draws, day: number, { utcOffsetMinutes }: Location): number {
  const localMs = draws.pickShared(shares.hours as unknown as Shares<number>) * hourMs + draws.between(0, hourMs - 1)
  return day * dayMs + ((localMs - utcOffsetMinutes * minuteMs + dayMs) % dayMs)
}
