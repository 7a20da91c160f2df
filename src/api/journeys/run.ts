import type { JourneyPage } from '../../../schema/journey.ts'
import { type EventKey, eventPageKey } from '../../query/eventKey.ts'
import { byKey, type NextRows, type PageRows, readAtKeys, readNext, toPage } from '../../query/list.ts'
import type { PageKey } from '../../query/pagination.ts'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { clickSerializer, type FoundClick, readClicks } from '../../rows/clicks.ts'
import { eventSerializer, readEventsByKey, type StoredEventRow } from '../../rows/events.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import type { RowText } from '../../rows/rowSerializer.ts'
import { keyOf, readLatest, versionSerializer } from '../../rows/versions.ts'
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

/** A row of a journey with its key. */
type Entry = { key: JourneyKey; click?: FoundClick; event?: StoredEventRow; conversion?: RowText }

/**
 * Reads one page of a journey, its rows as JSON: the next rows of each kind, merged. Memory and time do not depend on the length of
 * the journey, but on the number of clicks of a visitor with more than `listedClicksMax`.
 */
export async function readJourney(
  context: RowContext,
  plan: JourneyPlan,
): Promise<PageRows & Omit<JourneyPage, 'data'>> {
  const isOfVisitor = plan.of.column === 'visitor_id'
  const ofVisitor = isOfVisitor ? await readClickKeys(context, plan, undefined, listedClicksMax + 1) : []
  const clicks: VisitorClicks = ofVisitor.length > listedClicksMax ? 'many' : ofVisitor.map(({ id }) => id)
  const all = isOfVisitor && clicks !== 'many' ? ofVisitor : undefined
  const found: NextRows<Entry>[] = await Promise.all([
    plan.omitted.includes('click') ? { rows: [] } : nextClicks(context, plan, all),
    nextEvents(context, plan, clicks),
    plan.omitted.includes('conversion') ? { rows: [] } : nextConversions(context, plan, clicks),
  ])
  // Each kind is in its order, and at the same moment the kinds are in the order above: sorting is stable.
  const entries = found.flatMap(({ rows }) => rows).sort((a, b) => a.key.atMs - b.key.atMs)
  // A kind that may have more rows ends the page at its last row.
  const lasts = found.flatMap(({ rows, isFull }) => (isFull ? (rows.at(-1) ?? []) : []))
  const end = Math.min(...lasts.map((last) => entries.indexOf(last) + 1))
  const next = lasts.length === 0 ? { rows: entries } : { rows: entries.slice(0, end), isFull: true }
  const toJson = await journeySerializer(context, plan, next.rows.slice(0, plan.limit))
  const page = await toPage(next, plan, ({ key }) => journeyPageKey(key), toJson)
  return { ...page, omitted: [...plan.omitted], ...plan.retained }
}

function readClickKeys(context: ReadContext, plan: JourneyPlan, lastKey: PageKey | undefined, limit: number) {
  return readRows<PageKey>(context, clickKeysSql(plan, lastKey, limit), 'journeys.clicks', longRead)
}

/** @param all the keys of all clicks of a visitor, if they are known */
async function nextClicks(context: ReadContext, plan: JourneyPlan, all: readonly PageKey[] | undefined) {
  const limit = plan.limit + 1
  const lastKey = startOf('click', plan.after)
  const keys = all ?? (await readClickKeys(context, plan, lastKey, limit))
  const wanted = keys
    .filter(({ atMs, id }) => !lastKey || atMs > lastKey.atMs || (atMs === lastKey.atMs && id > lastKey.id))
    .slice(0, limit)
  const { rows, next } = await readAtKeys(wanted, limit, (some) => readClicks(context, plan, some))
  const entries = rows.map((click): Entry => ({ key: { kind: 'click', atMs: click.atMs, id: click.id }, click }))
  return { rows: entries, isFull: next !== undefined }
}

async function nextEvents(context: ReadContext, plan: JourneyPlan, clicks: VisitorClicks): Promise<NextRows<Entry>> {
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
  const { rows, ...more } = await readNext([source], eventStart(plan.after), plan.limit + 1)
  const entryOf = (event: StoredEventRow): Entry => {
    return { key: { kind: 'event', ...eventPageKey({ ...event, atMs: event.occurredAt }) }, event }
  }
  return { ...more, rows: rows.map(entryOf) }
}

async function nextConversions(context: ReadContext, plan: JourneyPlan, clicks: VisitorClicks) {
  const label = 'journeys.conversions'
  const rowOptions = { state: [isOfJourney(plan, clicks)], label: `${label}.rows` }
  const source = byKey<PageKey, RowText>({
    keys: (after, keysMax) => readRows(context, conversionKeysSql(plan, clicks, after, keysMax), label, longRead),
    rows: (keys) => readLatest(context, { ...plan, table: 'conversions' }, keys, rowOptions),
  })
  const { rows, ...more } = await readNext([source], startOf('conversion', plan.after), plan.limit + 1)
  const entryOf = (conversion: RowText): Entry => {
    return { key: { kind: 'conversion', ...keyOf('conversions', conversion) }, conversion }
  }
  return { ...more, rows: rows.map(entryOf) }
}

const isOfJourney = (plan: JourneyPlan, clicks: VisitorClicks) => ch`(${join(membership(plan, clicks), ' OR ')})`

/** Reads the names that rows show. @returns the function that makes the JSON of a row */
async function journeySerializer(context: RowContext, plan: JourneyPlan, entries: readonly Entry[]) {
  const clicks = entries.flatMap(({ click }) => click ?? [])
  const events = entries.flatMap(({ event }) => event ?? [])
  const conversions = entries.flatMap(({ conversion }) => conversion ?? [])
  const [clickJson, toEventRow, conversionJson] = await Promise.all([
    clickSerializer(context, plan, clicks),
    eventSerializer(context, plan.accountId, events),
    versionSerializer(context, { ...plan, table: 'conversions' }, conversions),
  ])
  return ({ key, click, event, conversion }: Entry) => {
    const row = click
      ? clickJson(click)
      : event
        ? JSON.stringify(toEventRow(event))
        : conversionJson(conversion as RowText)
    // Each row begins with its id, which has no character that JSON escapes. The fields that all kinds have follow the id.
    const start = `{"id":"${event?.id ?? key.id}"`
    return `${start},"kind":"${key.kind}","at":"${toInstantText(key.atMs)}"${row.slice(start.length)}`
  }
}
