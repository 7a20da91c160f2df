import type { JourneyPage } from '../../../schema/journey.ts'
import type { RouteContext } from '../../http/context.ts'
import { type EventKey, eventPageKey } from '../../query/eventKey.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { byKey, readPage } from '../../query/readPage.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readClicks, writeClicks } from '../../rows/clicks.ts'
import { conversionKey, conversionWriter, readConversions, type StoredConversion } from '../../rows/conversions.ts'
import { readEventsByKey, type StoredEventRow, toEventRows } from '../../rows/events.ts'
import { longRead, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import { eventStart, type JourneyKey, type JourneyPlan, journeyPageKey, startOf } from './plan.ts'
import {
  clickKeysSql,
  conversionKeysSql,
  eventKeysSettings,
  eventKeysSql,
  listedClicksMax,
  membership,
  type VisitorClicks,
} from './sql.ts'

/** A row of a journey with its key; the rows of clicks are read later. */
type Entry = { key: JourneyKey; event?: StoredEventRow; conversion?: StoredConversion }

/**
 * Reads one page of a journey, its rows as JSON: the next rows of each kind, merged. Memory and time do not depend on the length of
 * the journey, but on the number of clicks of a visitor with more than `listedClicksMax`.
 */
export async function readJourney(
  context: RouteContext,
  plan: JourneyPlan,
  signal: AbortSignal,
): Promise<PageRows<string> & Omit<JourneyPage, 'data'>> {
  const isOfVisitor = plan.of.column === 'visitor_id'
  const ofVisitor = isOfVisitor ? await readClickKeys(context, plan, undefined, listedClicksMax + 1, signal) : []
  const clicks: VisitorClicks = ofVisitor.length > listedClicksMax ? 'many' : ofVisitor.map(({ id }) => id)
  const all = isOfVisitor && clicks !== 'many' ? ofVisitor : undefined
  const found = await Promise.all([
    plan.omitted.includes('click') ? [] : nextClicks(context, plan, all, signal),
    nextEvents(context, plan, clicks, signal),
    plan.omitted.includes('conversion') ? [] : nextConversions(context, plan, clicks, signal),
  ])
  // Each kind is in its order, and at the same moment the kinds are in the order above: sorting is stable.
  const entries = found.flat().sort((a, b) => a.key.atMs - b.key.atMs)
  const page = toPage(entries, plan.limit, ({ key }) => journeyPageKey(key), plan.boundTo)
  return { ...page, data: await toRows(context, plan, page.data, signal), omitted: [...plan.omitted], ...plan.retained }
}

function readClickKeys(
  { stores }: RouteContext,
  plan: JourneyPlan,
  lastKey: PageKey | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<PageKey[]> {
  const options = { label: 'journeys.clicks', signal, settings: longRead }
  return selectRows<PageKey>(stores.clickhouse, clickKeysSql(plan, lastKey, limit), options)
}

/** @param all the keys of all clicks of a visitor, if they are known */
async function nextClicks(
  context: RouteContext,
  plan: JourneyPlan,
  all: readonly PageKey[] | undefined,
  signal: AbortSignal,
): Promise<Entry[]> {
  const limit = plan.limit + 1
  const lastKey = startOf('click', plan.after)
  const keys = all ?? (await readClickKeys(context, plan, lastKey, limit, signal))
  return keys
    .filter(({ atMs, id }) => !lastKey || atMs > lastKey.atMs || (atMs === lastKey.atMs && id > lastKey.id))
    .slice(0, limit)
    .map((key) => ({ key: { kind: 'click', ...key } }))
}

async function nextEvents(
  { stores: { clickhouse } }: RouteContext,
  plan: JourneyPlan,
  clicks: VisitorClicks,
  signal: AbortSignal,
): Promise<Entry[]> {
  const options = { label: 'journeys.events', signal, settings: { ...eventKeysSettings(clicks), ...longRead } }
  const query = {
    conditions: [ch`account_id = ${text(plan.accountId)}`, isOfJourney(plan, clicks)],
    atOf: ({ occurredAt }: StoredEventRow) => occurredAt,
  }
  const source = byKey<EventKey, StoredEventRow>({
    keys: (after, keysMax) => selectRows(clickhouse, eventKeysSql(plan, clicks, after, keysMax), options),
    rows: (keys) => readEventsByKey(clickhouse, query, keys, { label: 'journeys.events.rows', signal }),
  })
  const rows = await readPage([source], eventStart(plan.after), plan.limit + 1)
  return rows.map((event) => ({ key: { kind: 'event', ...eventPageKey({ ...event, atMs: event.occurredAt }) }, event }))
}

async function nextConversions(
  { stores }: RouteContext,
  plan: JourneyPlan,
  clicks: VisitorClicks,
  signal: AbortSignal,
): Promise<Entry[]> {
  const { clickhouse } = stores
  const options = { label: 'journeys.conversions', signal, settings: longRead }
  const rowOptions = { state: [isOfJourney(plan, clicks)], label: 'journeys.conversions.rows', signal }
  const source = byKey<PageKey, StoredConversion>({
    keys: (after, keysMax) => selectRows(clickhouse, conversionKeysSql(plan, clicks, after, keysMax), options),
    rows: (keys) => readConversions({ stores }, plan.accountId, keys, rowOptions),
  })
  const rows = await readPage([source], startOf('conversion', plan.after), plan.limit + 1)
  return rows.map((conversion) => ({ key: { kind: 'conversion', ...conversionKey(conversion) }, conversion }))
}

function isOfJourney(plan: JourneyPlan, clicks: VisitorClicks): Fragment {
  return ch`(${join(membership(plan, clicks), ' OR ')})`
}

/** A click that is removed in the meantime is left out. */
async function toRows(
  context: RouteContext,
  plan: JourneyPlan,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<string[]> {
  const clickKeys = entries.flatMap(({ key }) => (key.kind === 'click' ? [key] : []))
  const events = entries.flatMap(({ event }) => event ?? [])
  const conversions = entries.flatMap(({ conversion }) => conversion ?? [])
  const clicks = await readClicks(context.stores.clickhouse, plan, clickKeys, signal)
  const [clickRows, eventRows, writeConversion] = await Promise.all([
    writeClicks(context, plan, clicks, signal),
    toEventRows(context.nameCache, plan.accountId, events),
    conversionWriter(context, plan, conversions),
  ])
  const rowOfClick = new Map(clicks.map(({ id }, index) => [id, clickRows[index]]))
  const rowOfEvent = new Map(events.map((event, index) => [event, JSON.stringify(eventRows[index])]))
  return entries.flatMap(({ key, event, conversion }) => {
    const row = event ? rowOfEvent.get(event) : conversion ? writeConversion(conversion) : rowOfClick.get(key.id)
    if (row === undefined) return []
    // Each row begins with its id, which is followed by the fields that all kinds have.
    const [start = ''] = /^\{"id":"[^"]*"/.exec(row) ?? []
    return [`${start},"kind":"${key.kind}","at":"${toInstantText(key.atMs)}"${row.slice(start.length)}`]
  })
}
