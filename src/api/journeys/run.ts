import type { Click } from '../../../schema/click.ts'
import type { JourneyKind, JourneyPage, JourneyRow } from '../../../schema/journey.ts'
import type { RouteContext } from '../../http/context.ts'
import type { EventKey } from '../../query/eventKey.ts'
import { type PageKey, toPage } from '../../query/pagination.ts'
import { readRowsByKey } from '../../query/rowsByKey.ts'
import { readClicks } from '../../rows/clicksByKey.ts'
import { conversionKey, conversionWriter, readConversions, type StoredConversion } from '../../rows/conversions.ts'
import { type StoredEventRow, toEventRows } from '../../rows/events.ts'
import { readEventsByKey } from '../../rows/eventsByKey.ts'
import { longRead, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, join } from '../../stores/clickhouse/sql.ts'
import { compareKeys, type JourneyKey, journeyPageKey, startOf } from './key.ts'
import type { JourneyPlan } from './plan.ts'
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
 * Reads one page of a journey: the next rows of each kind, merged. Memory and time do not depend on the length of the
 * journey; those of a visitor with more than `listedClicksMax` clicks depend on the number of its clicks.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readJourney(context: RouteContext, plan: JourneyPlan, signal: AbortSignal): Promise<JourneyPage> {
  const ofVisitor = 'visitorId' in plan.of ? await readClickKeys(context, plan, listedClicksMax + 1, signal) : []
  const clicks: VisitorClicks = ofVisitor.length > listedClicksMax ? 'many' : ofVisitor.map(({ id }) => id)
  const isRead = (kind: JourneyKind) => !plan.omitted.includes(kind)
  const found = await Promise.all([
    isRead('click') ? nextClicks(context, plan, clicks === 'many' ? undefined : ofVisitor, signal) : [],
    nextEvents(context, plan, clicks, signal),
    isRead('conversion') ? nextConversions(context, plan, clicks, signal) : [],
  ])
  const entries = found.flat().sort((a, b) => compareKeys(a.key, b.key))
  const page = toPage(entries, plan.limit, ({ key }) => journeyPageKey(key), plan.fingerprint)
  return { ...page, data: await toRows(context, plan, page.data, signal), omitted: [...plan.omitted], ...plan.retained }
}

/** Reads the keys of clicks of the journey, from `start` on; of the first ones, unless given. */
function readClickKeys(
  { stores }: RouteContext,
  plan: JourneyPlan,
  limit: number,
  signal: AbortSignal,
  start = startOf('click', undefined),
): Promise<PageKey[]> {
  return selectRows<PageKey>(stores.clickhouse, clickKeysSql(plan, start, limit), {
    label: 'journeys.clicks',
    signal,
    settings: longRead,
  })
}

/** @param all the keys of all clicks of a visitor, if they are known */
async function nextClicks(
  context: RouteContext,
  plan: JourneyPlan,
  all: readonly PageKey[] | undefined,
  signal: AbortSignal,
): Promise<Entry[]> {
  const { after, limit } = plan
  const keys =
    all && 'visitorId' in plan.of ? all : await readClickKeys(context, plan, limit + 1, signal, startOf('click', after))
  return keys
    .map(({ atMs, id }): JourneyKey => ({ kind: 'click', atMs, id }))
    .filter((key) => !after || compareKeys(key, after) > 0)
    .slice(0, limit + 1)
    .map((key) => ({ key }))
}

async function nextEvents(
  { stores }: RouteContext,
  plan: JourneyPlan,
  clicks: VisitorClicks,
  signal: AbortSignal,
): Promise<Entry[]> {
  const { clickhouse } = stores
  const start = startOf('event', plan.after)
  const query = {
    accountId: plan.accountId,
    conditions: [anyOf(membership(plan, clicks))],
    atOf: ({ occurredAt }: StoredEventRow) => occurredAt,
  }
  const rows = await readRowsByKey<EventKey, StoredEventRow>(start.key, plan.limit + 1, {
    keys: (key, keysMax) =>
      selectRows<EventKey>(clickhouse, eventKeysSql(plan, clicks, { ...start, key }, keysMax), {
        label: 'journeys.events',
        signal,
        settings: { ...eventKeysSettings(clicks), ...longRead },
      }),
    rows: (keys) => readEventsByKey(clickhouse, query, keys, { label: 'journeys.events.rows', signal }),
  })
  return rows.map((event) => ({ key: { kind: 'event', ...event, atMs: event.occurredAt }, event }))
}

async function nextConversions(
  { stores }: RouteContext,
  plan: JourneyPlan,
  clicks: VisitorClicks,
  signal: AbortSignal,
): Promise<Entry[]> {
  const start = startOf('conversion', plan.after)
  const state = [anyOf(membership(plan, clicks))]
  const rows = await readRowsByKey<PageKey, StoredConversion>(start.key, plan.limit + 1, {
    keys: (key, keysMax) =>
      selectRows<PageKey>(stores.clickhouse, conversionKeysSql(plan, clicks, { ...start, key }, keysMax), {
        label: 'journeys.conversions',
        signal,
        settings: longRead,
      }),
    rows: async (keys) => {
      const newestFirst = await readConversions({ stores }, plan.accountId, keys, {
        state,
        label: 'journeys.conversions.rows',
        signal,
      })
      return newestFirst.reverse()
    },
  })
  return rows.map((conversion) => ({ key: { kind: 'conversion', ...conversionKey(conversion) }, conversion }))
}

function anyOf(conditions: readonly Fragment[]): Fragment {
  return ch`(${join(conditions, ' OR ')})`
}

/** A click that is removed in the meantime is left out. */
async function toRows(
  context: RouteContext,
  plan: JourneyPlan,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<JourneyRow[]> {
  const clickKeys = entries.flatMap(({ key }) => (key.kind === 'click' ? [key] : []))
  const events = entries.flatMap(({ event }) => event ?? [])
  const conversions = entries.flatMap(({ conversion }) => conversion ?? [])
  const [clicks, eventRows, writeConversion] = await Promise.all([
    readClicks(context, plan, clickKeys, signal),
    toEventRows(context.nameCache, plan.accountId, events),
    conversionWriter(context, { accountId: plan.accountId, currency: plan.baseCurrency }, conversions),
  ])
  const clickById = new Map(clicks.map(({ id, json }) => [id, JSON.parse(json) as Click]))
  const eventRowOf = new Map(events.map((event, index) => [event, eventRows[index]]))
  return entries.flatMap(({ key, event, conversion }): JourneyRow[] => {
    const row = event ? eventRowOf.get(event) : conversion ? writeConversion(conversion) : clickById.get(key.id)
    if (!row) return []
    const { id, ...fields } = row
    const at = new Date(key.atMs).toISOString()
    // The fields are those of the kind of the key.
    return [{ id, kind: key.kind, at, ...fields } as JourneyRow]
  })
}
