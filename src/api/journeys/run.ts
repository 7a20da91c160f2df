import type { JourneyPage } from '../../../schema/journey.ts'
import { type EventKey, eventPageKey } from '../../query/eventKey.ts'
import { byKey, type PageRows, readNext, toPage } from '../../query/list.ts'
import type { PageKey } from '../../query/pagination.ts'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readClicks, serializeClicks } from '../../rows/clicks.ts'
import { readEventsByKey, type StoredEventRow, toEventRows } from '../../rows/events.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import { keyOf, readLatest, type StoredRow, versionSerializer } from '../../rows/versions.ts'
import { longRead } from '../../stores/clickhouse/select.ts'
import { ch, join, text } from '../../stores/clickhouse/sql.ts'
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
type Entry = { key: JourneyKey; event?: StoredEventRow; conversion?: StoredRow }

/**
 * Reads one page of a journey, its rows as JSON: the next rows of each kind, merged. Memory and time do not depend on the length of
 * the journey, but on the number of clicks of a visitor with more than `listedClicksMax`.
 */
export async function readJourney(
  context: RowContext,
  plan: JourneyPlan,
): Promise<PageRows<string> & Omit<JourneyPage, 'data'>> {
  const isOfVisitor = plan.of.column === 'visitor_id'
  const ofVisitor = isOfVisitor ? await readClickKeys(context, plan, undefined, listedClicksMax + 1) : []
  const clicks: VisitorClicks = ofVisitor.length > listedClicksMax ? 'many' : ofVisitor.map(({ id }) => id)
  const all = isOfVisitor && clicks !== 'many' ? ofVisitor : undefined
  const found = await Promise.all([
    plan.omitted.includes('click') ? [] : nextClicks(context, plan, all),
    nextEvents(context, plan, clicks),
    plan.omitted.includes('conversion') ? [] : nextConversions(context, plan, clicks),
  ])
  // Each kind is in its order, and at the same moment the kinds are in the order above: sorting is stable.
  const entries = found.flat().sort((a, b) => a.key.atMs - b.key.atMs)
  const page = toPage(entries, plan.limit, ({ key }) => journeyPageKey(key), plan.boundTo)
  return { ...page, data: await toRows(context, plan, page.data), omitted: [...plan.omitted], ...plan.retained }
}

function readClickKeys(
  context: ReadContext,
  plan: JourneyPlan,
  lastKey: PageKey | undefined,
  limit: number,
): Promise<PageKey[]> {
  return readRows<PageKey>(context, clickKeysSql(plan, lastKey, limit), 'journeys.clicks', longRead)
}

/** @param all the keys of all clicks of a visitor, if they are known */
async function nextClicks(
  context: ReadContext,
  plan: JourneyPlan,
  all: readonly PageKey[] | undefined,
): Promise<Entry[]> {
  const limit = plan.limit + 1
  const lastKey = startOf('click', plan.after)
  const keys = all ?? (await readClickKeys(context, plan, lastKey, limit))
  return keys
    .filter(({ atMs, id }) => !lastKey || atMs > lastKey.atMs || (atMs === lastKey.atMs && id > lastKey.id))
    .slice(0, limit)
    .map((key) => ({ key: { kind: 'click', ...key } }))
}

async function nextEvents(context: ReadContext, plan: JourneyPlan, clicks: VisitorClicks): Promise<Entry[]> {
  const settings = { ...eventKeysSettings(clicks), ...longRead }
  const query = {
    conditions: [ch`account_id = ${text(plan.accountId)}`, isOfJourney(plan, clicks)],
    atOf: ({ occurredAt }: StoredEventRow) => occurredAt,
  }
  const source = byKey<EventKey, StoredEventRow>({
    keys: (after, keysMax) =>
      readRows(context, eventKeysSql(plan, clicks, after, keysMax), 'journeys.events', settings),
    rows: (keys) => readEventsByKey(context, query, keys, 'journeys.events.rows'),
  })
  const rows = await readNext([source], eventStart(plan.after), plan.limit + 1)
  return rows.map((event) => ({ key: { kind: 'event', ...eventPageKey({ ...event, atMs: event.occurredAt }) }, event }))
}

async function nextConversions(context: ReadContext, plan: JourneyPlan, clicks: VisitorClicks): Promise<Entry[]> {
  const label = 'journeys.conversions'
  const rowOptions = { state: [isOfJourney(plan, clicks)], label: `${label}.rows` }
  const source = byKey<PageKey, StoredRow>({
    keys: (after, keysMax) => readRows(context, conversionKeysSql(plan, clicks, after, keysMax), label, longRead),
    rows: (keys) => readLatest(context, { ...plan, table: 'conversions' }, keys, rowOptions),
  })
  const rows = await readNext([source], startOf('conversion', plan.after), plan.limit + 1)
  return rows.map((conversion) => ({ key: { kind: 'conversion', ...keyOf('conversions', conversion) }, conversion }))
}

const isOfJourney = (plan: JourneyPlan, clicks: VisitorClicks) => ch`(${join(membership(plan, clicks), ' OR ')})`

/** A click that is removed in the meantime is left out. */
async function toRows(context: RowContext, plan: JourneyPlan, entries: readonly Entry[]): Promise<string[]> {
  const clickKeys = entries.flatMap(({ key }) => (key.kind === 'click' ? [key] : []))
  const events = entries.flatMap(({ event }) => event ?? [])
  const conversions = entries.flatMap(({ conversion }) => conversion ?? [])
  const clicks = await readClicks(context, plan, clickKeys)
  const [clickRows, eventRows, serializeConversion] = await Promise.all([
    serializeClicks(context, plan, clicks),
    toEventRows(context, plan.accountId, events),
    versionSerializer(context, { ...plan, table: 'conversions' }, conversions),
  ])
  const rowOfClick = new Map(clicks.map(({ id }, index) => [id, clickRows[index]]))
  const rowOfEvent = new Map(events.map((event, index) => [event, JSON.stringify(eventRows[index])]))
  return entries.flatMap(({ key, event, conversion }) => {
    const row = event ? rowOfEvent.get(event) : conversion ? serializeConversion(conversion) : rowOfClick.get(key.id)
    if (row === undefined) return []
    // Each row begins with its id, which has no character that JSON escapes. The fields that all kinds have follow the id.
    const start = `{"id":"${event?.id ?? key.id}"`
    return [`${start},"kind":"${key.kind}","at":"${toInstantText(key.atMs)}"${row.slice(start.length)}`]
  })
}
