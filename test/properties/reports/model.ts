import type { Comparison } from '../../../schema/comparison.ts'
import {
  type AttributeName,
  type ConversionAttributeName,
  type Dimension,
  entityDimensions,
  type PropertyName,
  type TimeDimension,
} from '../../../schema/dimensions.ts'
import { filterAttributes, type FilterName as SharedFilterName } from '../../../schema/filters.ts'
import type { ListedMetric, Metrics } from '../../../schema/metrics.ts'
import type { RangeName } from '../../../schema/range.ts'
import { addDays, dateBefore, dateOf, instantOf, localText, startOfDate, yearBefore } from './localTime.ts'
import { type CountedClick, type CountedConversion, type CountedCost, type CountedEvent, metricsOf } from './rows.ts'

// Reports by plain code over plain rows, without SQL, sums or code of `src`.

/** Rows with times in epoch milliseconds. Clicks and costs before `retainedMs` are removed, events before `eventsMs`. */
export interface Rows {
  retainedMs: number
  eventsMs: number
  events: readonly CountedEvent[]
  clicks: readonly CountedClick[]
  conversions: readonly CountedConversion[]
  costs: readonly CountedCost[]
}
type Row = CountedClick | CountedConversion | CountedCost | CountedEvent

export type FilterName = SharedFilterName | ConversionAttributeName | 'event_origin' | PropertyName
const attributeOf: Readonly<Record<string, AttributeName>> = filterAttributes

export interface Query {
  dimensions: Dimension[]
  zone: string
  range: { fromMs: number; untilMs: number }
  filters: { name: FilterName; values: string[]; isExcluded: boolean }[]
  tree: Tree[]
  metricConditions: MetricCondition[]
  /** The calendar range that `range` is. */
  rangeName: RangeName | undefined
  sort: { by: 'id' | Metric; isDescending: boolean; isChange?: boolean }
  offset: number
  limit: number
  minClicks: number
  minConversions: number
  withVisitors: boolean
  /** Metrics of events in the response, and whether it has no others. */
  eventMetrics: EventMetric[]
  hasOnlyEvents: boolean
  bots: 'exclude' | 'only' | 'include'
  /** The other range: an earlier one, or any. */
  compare: Comparison | { fromMs: number; untilMs: number } | undefined
  /** Whether conversions count at the time of their click. */
  countsAtClick: boolean
}

export const eventMetrics = ['events', 'eventVisitors', 'events:lead', 'eventVisitors:visit'] as const
export type EventMetric = (typeof eventMetrics)[number]
type Metric = Exclude<ListedMetric, 'events' | 'eventVisitors'> | EventMetric

export type Leaf = ['is' | 'is_not' | 'contains' | 'contains_not', FilterName, string[]]
export type Tree = Leaf | ['and' | 'or', Tree[]] | ['not', Tree]
export type MetricCondition = ['=' | '>' | '>=' | '<' | '<=', Metric, number]

const notSet = '(not set)'

export type ExpectedRow = Metrics & { id: string; previous?: Metrics & { id: string | null } }

export function expectedReport(query: Query, given: Rows, nowMs: number) {
  const atClick = () => given.conversions.map((row) => ({ ...row, atMs: row.clickedMs }))
  const rows = query.countsAtClick ? { ...given, conversions: atClick() } : given
  const selected = select(query, rows, query.range)
  const buckets = group(query, selected)
  const counted = [...buckets.values()].filter(
    (bucket) =>
      bucket.clicks >= query.minClicks &&
      bucket.conversions >= query.minConversions &&
      query.metricConditions.every((condition) => compares(bucket, condition)),
  )
  const end = query.offset + query.limit
  const changes = query.sort.isChange ? changesOf(query, rows, nowMs) : undefined
  const shown = counted.sort(orderOf(query.sort, changes)).slice(query.offset, end)
  const counts = { bucketCount: counted.length, truncated: counted.length > end }
  const response = {
    data: shown.map((bucket) => rowOf(query, bucket)),
    totals: shownOf(query, total(selected)),
    lacksRows: lackOf(query, rows, query.range) !== 'none',
    ...counts,
  }
  if (query.compare === undefined) return response
  const { range, totals, lacksRows, counterpartOf } = earlierOf(query, rows, nowMs)
  const compared = shown.map((bucket): ExpectedRow => {
    const { id, values } = counterpartOf(bucket.ids)
    return { ...rowOf(query, bucket), previous: { id, ...shownOf(query, values) } }
  })
  return {
    ...response,
    lacksRows: response.lacksRows || lacksRows,
    data: compared,
    previous: { range, totals: totals && shownOf(query, totals) },
  }
}

/** The other range of a comparison, and the values there of a bucket. */
function earlierOf(query: Query, rows: Rows, nowMs: number) {
  const { compare = { fromMs: 0, untilMs: 0 } } = query
  const previous = typeof compare === 'object' ? otherOf(query, compare) : previousOf(query, compare, nowMs)
  const earlier = select(query, rows, previous.range)
  const buckets = group(query, earlier)
  const lack = lackOf(query, rows, previous.range)
  return {
    range: previous.range,
    totals: lack === 'all' ? null : total(earlier),
    lacksRows: lack !== 'none',
    counterpartOf(ids: readonly string[]) {
      const counterparts = ids.map((id, index) => previous.counterpartOf(query.dimensions[index] as Dimension, id))
      const exists = counterparts.every((id): id is string => id !== null)
      const found = exists ? buckets.get(JSON.stringify(counterparts)) : undefined
      const { ids: _ids, ...values } = found ?? {
        ids: [],
        ...total({ clicks: [], conversions: [], costs: [], events: [] }),
      }
      return { id: exists ? idText(counterparts) : null, values }
    },
  }
}

/** The difference of the metric that a report is ordered by, in millionths; null if it is null in either range. */
function changesOf(query: Query, rows: Rows, nowMs: number): (bucket: Bucket) => number | null {
  const { counterpartOf } = earlierOf(query, rows, nowMs)
  const by = query.sort.by as Metric
  return (bucket) => {
    const [value, earlier] = [bucket[by], counterpartOf(bucket.ids).values[by]]
    return value === null || earlier === null ? null : Math.round(value * 1e6) - Math.round(earlier * 1e6)
  }
}

function otherOf({ range, zone }: Query, other: Query['range']) {
  return {
    range: other,
    counterpartOf(dimension: Dimension, id: string): string | null {
      if (!isUnit(dimension)) return id
      return unitsOf(dimension, other, zone)[unitsOf(dimension, range, zone).indexOf(id)] ?? null
    },
  }
}

type Counted = Metrics & Record<'visitors' | EventMetric, number>
type Bucket = Counted & { ids: string[] }

export function idText(ids: readonly string[]): string {
  return ids.length === 1 ? (ids[0] ?? '') : JSON.stringify(ids)
}

function rowOf(query: Query, { ids, ...metrics }: Bucket): ExpectedRow {
  return { id: idText(ids), ...shownOf(query, metrics) }
}

function shownOf(query: Query, { visitors, ...all }: Counted): Metrics & { visitors?: number } {
  const {
    events: _events,
    eventVisitors: _visitors,
    'events:lead': _lead,
    'eventVisitors:visit': _visit,
    ...metrics
  } = all
  const ofEvents = Object.fromEntries(query.eventMetrics.map((name) => [name, all[name]]))
  // An absent metric is undefined.
  if (query.hasOnlyEvents) return ofEvents as unknown as Metrics
  return { ...metrics, ...(query.withVisitors && { visitors }), ...ofEvents }
}

/** The metrics of events that a query names, and whether it names no others. */
function countedEvents({
  eventMetrics: shown,
  hasOnlyEvents,
  sort,
  metricConditions,
  minClicks,
  minConversions,
}: Query) {
  const more = [...(sort.by === 'id' ? [] : [sort.by]), ...metricConditions.map(([, metric]) => metric)]
  const isOfEvents = (metric: Metric) => (eventMetrics as readonly Metric[]).includes(metric)
  const names = [...shown, ...more.filter(isOfEvents)]
  return { names, isOnly: hasOnlyEvents && more.every(isOfEvents) && minClicks + minConversions === 0 }
}

function compares(bucket: Counted, [operator, metric, number]: MetricCondition): boolean {
  const value = bucket[metric]
  if (value === null) return false
  const isOf = {
    '=': value === number,
    '>': value > number,
    '>=': value >= number,
    '<': value < number,
    '<=': value <= number,
  }
  return isOf[operator]
}

const fold = (text: string) => text.toLowerCase().replaceAll('ς', 'σ')

function attributeValue({ attributes }: Row, name: FilterName): string {
  return attributes[attributeOf[name] ?? (name as ConversionAttributeName)] || notSet
}

function fulfils(row: Row, tree: Tree): boolean {
  switch (tree[0]) {
    case 'and':
      return tree[1].every((one) => fulfils(row, one))
    case 'or':
      return tree[1].some((one) => fulfils(row, one))
    case 'not':
      return !fulfils(row, tree[1])
    default: {
      const [operator, name, values] = tree
      const value = attributeValue(row, name)
      const isFound = operator.startsWith('is')
        ? values.includes(value)
        : value !== notSet && values.some((part) => fold(value).includes(fold(part)))
      return isFound !== operator.endsWith('not')
    }
  }
}

/** Attributes of sums by day. */
const summed = ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source']
function namesOf(tree: Tree): FilterName[] {
  switch (tree[0]) {
    case 'and':
    case 'or':
      return tree[1].flatMap(namesOf)
    case 'not':
      return namesOf(tree[1])
    default:
      return [tree[1]]
  }
}

/** The part of a range that sums have: whole UTC days, or whole quarters of an hour. Rows of the rest can be removed. */
function ofSums(query: Query, { fromMs, untilMs }: Query['range']): Query['range'] {
  const none = { fromMs: untilMs, untilMs }
  const names = [...query.filters.map(({ name }) => name), ...query.tree.flatMap(namesOf)]
  const times = query.dimensions.filter((name) => timeId(name as TimeDimension, 0, 'UTC') !== undefined)
  const attributes = query.dimensions.filter((name) => !(times as Dimension[]).includes(name))
  const named: string[] = [...attributes, ...names.map((name) => attributeOf[name] ?? name)]
  const all = new Set(named.map((name) => (entityDimensions as Record<string, { by: string }>)[name]?.by ?? name))
  all.delete('campaign')
  const offsets = [untilMs - 1]
  for (let atMs = fromMs; atMs < untilMs; atMs += 86_400_000) offsets.push(atMs)
  const isUtc = offsets.every((atMs) => localText(atMs, query.zone).endsWith('+00:00'))
  const isByDay = times.length === 0 || (isUtc && !times.some((name) => name === 'hour' || name === 'hour_of_day'))
  const isOfDays = isByDay && all.size < 2 && [...all].every((name) => summed.includes(name))
  const isOfRows = query.withVisitors || query.sort.by === 'visitors' || query.bots !== 'exclude'
  if (isOfRows || countedEvents(query).isOnly || (all.size > 0 && !isOfDays)) return none
  const stepMs = all.size > 0 ? 86_400_000 : 900_000
  const whole = { fromMs: Math.ceil(fromMs / stepMs) * stepMs, untilMs: Math.floor(untilMs / stepMs) * stepMs }
  return whole.fromMs < whole.untilMs ? whole : none
}

/** From when a report is of retained rows. */
export function boundaryOf(query: Query, { retainedMs, eventsMs }: Pick<Rows, 'retainedMs' | 'eventsMs'>): number {
  return countedEvents(query).names.length > 0 ? Math.max(retainedMs, eventsMs) : retainedMs
}

/** How much of a range lacks rows that are needed. */
function lackOf(query: Query, rows: Rows, range: Query['range']): 'none' | 'some' | 'all' {
  const { retainedMs, eventsMs } = rows
  const { fromMs, untilMs } = ofSums(query, range)
  const { names, isOnly } = countedEvents(query)
  const lacksFacts = range.fromMs < Math.min(fromMs, retainedMs) || untilMs < Math.min(range.untilMs, retainedMs)
  const lacks = names.length > 0 ? range.fromMs < boundaryOf(query, rows) : lacksFacts
  const hasFacts = !isOnly && (fromMs < untilMs || range.untilMs > retainedMs)
  const hasEvents = names.length > 0 && range.untilMs > eventsMs
  return lacks && !hasFacts && !hasEvents ? 'all' : lacks ? 'some' : 'none'
}

function select(query: Query, { retainedMs, eventsMs, ...rows }: Rows, range: Query['range']): Selected {
  const { filters, tree, bots } = query
  const sums = ofSums(query, range)
  const { names, isOnly } = countedEvents(query)
  const matches = (row: Row) =>
    row.atMs >= range.fromMs &&
    row.atMs < range.untilMs &&
    filters.every(({ name, values, isExcluded }) => values.includes(attributeValue(row, name)) !== isExcluded) &&
    tree.every((one) => fulfils(row, one))
  const isSelected = (row: Row) =>
    !isOnly && matches(row) && (row.atMs >= retainedMs || (row.atMs >= sums.fromMs && row.atMs < sums.untilMs))
  const isOfBots = ({ isBot }: { isBot: boolean }) => bots === 'include' || isBot === (bots === 'only')
  const isNamed = ({ eventName }: CountedEvent) => names.some((name) => (name.split(':')[1] ?? eventName) === eventName)
  const ofPeople = bots === 'only' ? () => false : isSelected
  return {
    clicks: rows.clicks.filter(isSelected).filter(isOfBots),
    conversions: rows.conversions.filter(ofPeople),
    costs: rows.costs.filter(ofPeople),
    events: rows.events.filter((row) => row.atMs >= eventsMs && matches(row) && isOfBots(row) && isNamed(row)),
  }
}

type Selected = Omit<Rows, 'retainedMs' | 'eventsMs'>

function total({ clicks, conversions, costs, events }: Selected): Counted {
  const visitorsOf = (rows: readonly { visitor: string }[]) => new Set(rows.map(({ visitor }) => visitor)).size
  const named = (name: string) => events.filter(({ eventName }) => eventName === name)
  return {
    ...metricsOf(clicks, conversions, costs),
    visitors: visitorsOf(clicks),
    events: events.length,
    eventVisitors: visitorsOf(events),
    'events:lead': named('lead').length,
    'eventVisitors:visit': visitorsOf(named('visit')),
  }
}

/** A bucket has clicks, conversions of any status, a cost, or events that a metric of the query counts. */
function group({ dimensions, zone }: Query, selected: Selected): Map<string, Bucket> {
  type Group = { ids: string[] } & { [Kind in keyof Selected]: Selected[Kind][number][] }
  const groups = new Map<string, Group>()
  for (const kind of ['clicks', 'conversions', 'costs', 'events'] as const) {
    for (const row of selected[kind]) {
      const ids = dimensions.map((dimension) => idOf(dimension, row, zone))
      const key = JSON.stringify(ids)
      const known = groups.get(key) ?? { ids, clicks: [], conversions: [], costs: [], events: [] }
      groups.set(key, known)
      const rows: Row[] = known[kind]
      rows.push(row)
    }
  }
  const isBucket = ({ clicks, conversions, costs, events }: Group) =>
    clicks.length + conversions.length + events.length > 0 || costs.reduce((sum, { cost }) => sum + cost, 0n) !== 0n
  const buckets = [...groups].filter(([, found]) => isBucket(found))
  return new Map(buckets.map(([key, { ids, ...found }]) => [key, { ids, ...total(found) }]))
}

function idOf(dimension: Dimension, { atMs, attributes }: Row, zone: string): string {
  const id = timeId(dimension as TimeDimension, atMs, zone)
  return id ?? (attributes[dimension as AttributeName] || notSet)
}

function timeId(dimension: TimeDimension, atMs: number, zone: string): string | undefined {
  const local = localText(atMs, zone)
  const date = local.slice(0, 10)
  const weekday = (new Date(date).getUTCDay() + 6) % 7
  switch (dimension) {
    case 'day':
      return date
    case 'hour':
      return `${local.slice(0, 13)}:00${local.slice(23)}`
    case 'week':
      return addDays(date, -weekday)
    case 'month':
      return date.slice(0, 7)
    case 'hour_of_day':
      return local.slice(11, 13)
    case 'weekday':
      return String(weekday + 1)
    default:
      return undefined
  }
}

/** By id, bytewise; other keys by value with null last. */
function orderOf(
  { by, isDescending }: Query['sort'],
  changeOf?: (bucket: Bucket) => number | null,
): (a: Bucket, b: Bucket) => number {
  const sign = isDescending ? -1 : 1
  return (a, b) => {
    if (by === 'id') return sign * compareIds(a.ids, b.ids)
    const [x, y] = changeOf ? [changeOf(a), changeOf(b)] : [a[by], b[by]]
    if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0) || compareIds(a.ids, b.ids)
    return sign * (x - y) || compareIds(a.ids, b.ids)
  }
}

const isHour = /^\d{4}-\d\d-\d\dT\d\d:00[+-]\d\d:\d\d$/

/** Hours are in the order of time, also two hours with one local time. */
function compareIds(a: readonly string[], b: readonly string[]): number {
  for (const [index, id] of a.entries()) {
    const [x, y] = [id, b[index] ?? ''].map((one) => (isHour.test(one) ? new Date(one).toISOString() + one : one))
    const order = Buffer.compare(Buffer.from(x ?? ''), Buffer.from(y ?? ''))
    if (order !== 0) return order
  }
  return 0
}

/** The unit before a calendar range, whose units of time are compared by position. */
function unitBeforeOf(query: Query, name: RangeName, nowMs: number) {
  const { range, zone } = query
  const today = dateOf(nowMs, zone)
  const start = startOfDate(dateBefore(name, dateOf(range.fromMs, zone)).date, zone)
  if (name.startsWith('last') || name === 'yesterday') return otherOf(query, { fromMs: start, untilMs: range.fromMs })
  const { date, isLacking } = dateBefore(name, today)
  const endMs = startOfDate(addDays(date, 1), zone)
  const presentMs = instantOf(Date.parse(`${date}${localText(nowMs, zone).slice(10, 23)}Z`), zone).epochMs
  const whole = otherOf(query, { fromMs: start, untilMs: endMs })
  return { ...whole, range: { fromMs: start, untilMs: isLacking ? endMs : Math.min(presentMs, endMs) } }
}

/** The earlier range, and the id there of a bucket. */
function previousOf(query: Query, compare: Comparison, nowMs: number) {
  const { range, zone, rangeName } = query
  if (rangeName && compare === 'previous_period') return unitBeforeOf(query, rangeName, nowMs)
  const { fromMs, untilMs } = range
  const isStartOfDate = (atMs: number) => startOfDate(dateOf(atMs, zone), zone) === atMs
  const isWhole = isStartOfDate(fromMs) && isStartOfDate(untilMs)
  const isShiftedByDuration = compare === 'previous_period' && !isWhole
  const days = (Date.parse(dateOf(untilMs, zone)) - Date.parse(dateOf(fromMs, zone))) / 86_400_000
  const dateBefore = (date: string) => (compare === 'previous_year' ? yearBefore(date) : addDays(date, -days))
  const hasDateBefore = (date: string) => compare !== 'previous_year' || !date.endsWith('02-29')
  const shift = (atMs: number) => {
    if (isShiftedByDuration) return { epochMs: atMs - (untilMs - fromMs), exists: true }
    const local = localText(atMs, zone)
    return instantOf(Date.parse(`${dateBefore(local.slice(0, 10))}${local.slice(10, 23)}Z`), zone)
  }
  const yearBeforeEnd = () =>
    isStartOfDate(untilMs)
      ? startOfDate(addDays(yearBefore(addDays(dateOf(untilMs, zone), -1)), 1), zone)
      : shift(untilMs).epochMs
  const startMs =
    isStartOfDate(fromMs) && !isShiftedByDuration
      ? startOfDate(dateBefore(dateOf(fromMs, zone)), zone)
      : shift(fromMs).epochMs
  // The range before ends where the range starts. An end before the start makes the range empty.
  const endingAt = (atMs: number) => ({ fromMs: startMs, untilMs: Math.max(atMs, startMs) })
  const whole = endingAt(compare === 'previous_period' ? fromMs : yearBeforeEnd())
  const isPresent = fromMs <= nowMs && nowMs < untilMs
  return {
    range: isPresent ? endingAt(Math.min(whole.untilMs, shift(nowMs).epochMs)) : whole,
    counterpartOf(dimension: Dimension, id: string): string | null {
      if (isUnit(dimension) && whole.untilMs === startMs) return null
      if (dimension === 'week' || dimension === 'month') {
        const position = unitsOf(dimension, range, zone).indexOf(id)
        return unitsOf(dimension, whole, zone)[position] ?? null
      }
      if (dimension !== 'day' && dimension !== 'hour') return id
      const bucketMs = Math.max(dimension === 'day' ? startOfDate(id, zone) : startOfHour(id, zone), fromMs)
      const shifted = shift(bucketMs)
      if (!isShiftedByDuration) {
        if (!hasDateBefore(dateOf(bucketMs, zone))) return null
        if (dimension === 'day') return dateBefore(id)
        if (!shifted.exists) return null
      }
      const found = timeId(dimension, shifted.epochMs, zone) ?? null
      // The second of two repeated hours is compared with the hour of the first one.
      return shifted.epochMs >= startMs || found === timeId(dimension, startMs, zone) ? found : null
    },
  }
}

type Unit = 'hour' | 'day' | 'week' | 'month'

function isUnit(dimension: Dimension): dimension is Unit {
  return ['hour', 'day', 'week', 'month'].includes(dimension)
}

/** The ids of the units of a range, in order. Clocks change, and hours start, at quarters of an hour. */
function unitsOf(dimension: Unit, { fromMs, untilMs }: Query['range'], zone: string): string[] {
  const ids = new Set<string>()
  if (dimension === 'hour') {
    const quarterMs = 15 * 60_000
    for (let atMs = fromMs; atMs < untilMs; atMs += quarterMs - (atMs % quarterMs))
      ids.add(timeId('hour', atMs, zone) ?? '')
    return [...ids]
  }
  const last = dateOf(untilMs - 1, zone)
  for (let date = dateOf(fromMs, zone); date <= last; date = addDays(date, 1))
    ids.add(timeId(dimension, Date.parse(date), 'UTC') ?? '')
  return [...ids]
}

/** The first instant of an hour, which may start after its label where a clock changes by half an hour. */
function startOfHour(id: string, zone: string): number {
  let atMs = Date.parse(id)
  while (timeId('hour', atMs, zone) !== id) atMs += 15 * 60_000
  return atMs
}
