import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { ConversionPage } from '../../../schema/conversion.ts'
import { CostPage } from '../../../schema/cost.ts'
import { conversionAttributeNames } from '../../../schema/dimensions.ts'
import type { Metrics } from '../../../schema/metrics.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { intervals, StatsDaily, StatsOverview } from '../../../schema/stats.ts'
import { auditClause } from '../../../src/accounts/audit.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import type { Postgres } from '../../../src/stores/postgres/connection.ts'
import { completeErasures } from '../../../src/writer/erasure/completeErasures.ts'
import { addErasures, identifierHash, readErasureKey } from '../../../src/writer/erasure/erasures.ts'
import { withWriter } from '../../../src/writer/openWriter.ts'
import { removeMonths } from '../../../src/writer/removeMonths.ts'
import { findDifferences } from '../../../src/writer/repair/differences.ts'
import { post } from '../../api/events/send.ts'
import { importContent, rowsOf } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { changeTables, startMerges, stopMerges, storeEvents } from '../../kit/rows.ts'
import { ImportKilled, killedStores, shortWindow } from '../../writer/killedImport.ts'
import { running } from '../../writer/withWriter.ts'
import type { Attributes } from './attributes.ts'
import {
  dayMs,
  type Entities,
  parameterOf,
  queries,
  treeParameter,
  treeQueries,
  type WrittenQuery,
} from './generators.ts'
import {
  campaigns,
  clickLine,
  conversionLine,
  costLine,
  type History,
  history,
  type Interruption,
  type Step,
} from './histories.ts'
import { boundaryOf, expectedReport, idText, type Rows } from './model.ts'
import {
  type ClickLine,
  type ConversionLine,
  type CostLine,
  type EventLine,
  inUnits,
  Model,
  metricsOf,
  type Tally,
} from './rows.ts'

const api = useTestApp()

const tables = `clicks click_index conversions conversion_index converted_clicks costs cost_index
  sums_by_day sums_by_day_and_campaign sums_by_quarter_hour pixel_events`.split(/\s+/)

beforeAll(async () => {
  // The time stands still, so all requests are in one minute.
  await setPlanLimits(api.stores.postgres, 'scale', { requestsPerMinute: 10_000_000 })
  // Versions of rows stay unmerged, and readers have to collapse them, until a step merges them.
  for (const table of tables) await stopMerges(api.stores, table)
})
afterAll(async () => {
  for (const table of tables) await startMerges(api.stores, table)
})

let interrupted = 0

it('reports, stats and lists equal a plain count of the rows after every step, to the millionth, also when imports are interrupted, and after an erasure and retention', async () => {
  let accounts = 0
  await fc.assert(
    fc.asyncProperty(history, async ({ nowMs, currency, entities, steps, retainedMonths, queriesOfRetained }) => {
      accounts += 1
      api.setNow(nowMs)
      const accountId = `account-${accounts}`
      const key = await api.account(accountId, { currency })
      const named = campaigns.map((id) => ({ id, name: id }))
      await importContent(api.stores, accountId, 'campaigns', named)
      const account = { accountId, key, nowMs, currency, model: new Model(), files: [] as File[], imports: 0 }
      await storeEntities(account, entities[0])
      for (const [step, queries] of steps) {
        await apply(account, step)
        const rows = modelRows(account)
        for (const query of queries) await compare(account, rows, query)
      }
      await expectConsistent(account)
      await apply(account, { kind: 'merge' })
      await expectConsistent(account)
      await erase(account, 'w1')
      const retained = await retain(account, retainedMonths)
      await storeEntities(account, entities[1])
      const later = { ...account, nowMs: nowMs + 5_000 }
      api.setNow(later.nowMs)
      const rows = { ...modelRows(account, retained.retainedMs), ...retained }
      for (const query of queriesOfRetained) await compare(later, rows, query)
    }),
    { numRuns: randomCases(1), endOnFailure: true },
  )
  expect(interrupted).toBeGreaterThan(0)
})

it('pages by next have the rows of one report, byte for byte, while clocks change and days, months and years end between them', async () => {
  // After a clock change in Berlin, on a leap day, the day after February, in a quarter that is longer than the one before, and at an end.
  const presents = [
    '2026-10-26T22:40Z',
    '2028-02-29T12:00Z',
    '2025-03-01T00:10Z',
    '2026-05-01T10:20Z',
    '2026-12-31T23:59Z',
  ]
  const accounts: Account[] = []
  for (const nowMs of presents.map(Date.parse)) {
    const accountId = `paged-${nowMs}`
    const key = await api.account(accountId)
    const account: Account = { accountId, key, nowMs, currency: 'USD', model: new Model(), files: [], imports: 0 }
    const moved = (line: ClickLine, n: number) => ({
      ...line,
      id: `c${n}`,
      atMs: line.atMs - (n % 4 ? 0 : 365 * dayMs),
    })
    await importFile(account, { resource: 'clicks', lines: fc.sample(clickLine, 200).map(moved) })
    accounts.push(account)
  }
  const steps = fc.array(fc.constantFrom(0, 1, 60_000, 3_600_000, dayMs, 40 * dayMs), { minLength: 1, maxLength: 4 })
  const cases = fc
    .constantFrom(...accounts)
    .chain((of) => fc.tuple(fc.constant(of), queries(of.nowMs), steps, fc.nat(2)))
  let followed = 0
  await fc.assert(
    fc.asyncProperty(cases, async ([{ key, nowMs }, { text }, stepsMs, skipped]) => {
      const query = `${text.replace(/&(limit|offset)=\d+/g, '')}&offset=${skipped}`
      api.setNow(nowMs)
      const whole = await api.read(`/reports?${query}`, key, ReportResponse)
      const limit = Math.max(1, Math.ceil(whole.data.length / 4))
      const data: ReportResponse['data'] = []
      let atMs = nowMs
      for (let next: string | null = `${query}&limit=${limit}`; next !== null; followed++) {
        const page: ReportResponse = await api.read(`/reports?${next}`, key, ReportResponse)
        data.push(...page.data)
        next = page.next
        const { previous } = whole
        const { asOf, dataThrough } = whole
        const same = { ...page, data, next: null, truncated: false, asOf, dataThrough }
        if (previous && same.previous) same.previous = { ...same.previous, complete: previous.complete }
        // Whole but for its rows, until the last page.
        expect([query, JSON.stringify(next === null ? same : { ...same, data: [] })]).toEqual([
          query,
          JSON.stringify(next === null ? whole : { ...whole, data: [] }),
        ])
        atMs += stepsMs[followed % stepsMs.length] ?? 0
        api.setNow(atMs)
      }
    }),
    { numRuns: randomCases(12), endOnFailure: true },
  )
  expect(followed).toBeGreaterThan(12)
})

it('a random tree of filters selects the rows that plain code selects, from sums and from rows', {
  tags: 'long',
}, async () => {
  const nowMs = Date.UTC(2026, 10, 2, 4, 30)
  api.setNow(nowMs)
  const key = await api.account('trees')
  const account = { accountId: 'trees', key, nowMs, currency: 'USD', model: new Model(), files: [], imports: 0 }
  const numbered = <Line extends { id?: string }>(lines: Line[], letter: string) =>
    lines.map((line, n) => ({ ...line, id: `${letter}${n}` }))
  const ofClick = fc.sample(conversionLine, 60).map((line, n) => ({ ...line, clickId: `c${3 * n}` }))
  await importFile(account, { resource: 'clicks', lines: numbered(fc.sample(clickLine, 190), 'c') })
  await importFile(account, { resource: 'conversions', lines: numbered(ofClick, 'v') })
  await importFile(account, { resource: 'costs', lines: numbered(fc.sample(costLine, 40), 'x') })
  const rows = modelRows(account)
  const several = fc.array(treeQueries(nowMs), { minLength: 4, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(several, async (queries) => {
      await Promise.all(queries.map((query) => compare(account, rows, query)))
    }),
    { numRuns: randomCases(50), endOnFailure: true },
  )
})

/** Compares sums and indexes with the rows: verify.test.ts proves that each difference is found. Compares the counts of confirmed rows too. */
async function expectConsistent({ accountId }: Account): Promise<void> {
  const { postgres } = api.stores
  expect(await postgres`SELECT token FROM import_batches WHERE account_id = ${accountId}`).toEqual([])
  const confirmed = await postgres`
    SELECT resource, to_char(month, 'YYYY-MM-DD') AS month, rows::int AS rows FROM stored_rows
    WHERE account_id = ${accountId} AND rows <> 0 ORDER BY resource, month`
  const countsOf = (table: string, at: string) => `
    SELECT '${table}' AS resource, toStartOfMonth(${at}) AS month, count() AS rows FROM ${table} FINAL
    WHERE account_id = '${accountId}' GROUP BY month`
  const all = [countsOf('clicks', 'clicked_at'), countsOf('conversions', 'converted_at'), countsOf('costs', 'spent_at')]
  const counts = all.join(' UNION ALL ')
  expect(await rowsOf(api.stores, `SELECT * FROM (${counts}) ORDER BY resource, month`)).toEqual([...confirmed])
  // A row may have moved to an earlier time.
  const latestOf = (table: string, at: string) => `
    SELECT '${table}' AS resource, toUnixTimestamp64Milli(max(${at})) AS atMs FROM ${table} FINAL
    WHERE account_id = '${accountId}' AND ${at} <= now64(3)`
  const latest = [
    latestOf('clicks', 'clicked_at'),
    latestOf('conversions', 'converted_at'),
    latestOf('costs', 'spent_at'),
  ]
  for (const { resource, atMs } of await rowsOf<{ resource: string; atMs: number }>(
    api.stores,
    latest.join(' UNION ALL '),
  )) {
    const [row] = await postgres`
      SELECT (EXTRACT(EPOCH FROM nullif(data_through, '-infinity')) * 1000)::float8 AS ms FROM watermarks
      WHERE account_id = ${accountId} AND resource = ${resource}`
    expect([resource, row?.ms ?? 0]).toEqual([
      resource,
      expect.toSatisfy((ms: number) => ms >= atMs && ms <= Date.now()),
    ])
  }
  // TRAP: this counts rows that no import counted.
  const settling = { ...running, first: 'wait' } as const
  expect(await withWriter(api.stores, accountId, settling, findDifferences)).toEqual([])
}

/** Erases a visitor from all rows. */
async function erase({ accountId, model }: Account, visitorId: string): Promise<void> {
  await withWriter(api.stores, accountId, running, async (writer) => {
    const key = await readErasureKey(writer)
    const hash = identifierHash(key, 'visitor', visitorId)
    await addErasures(writer, [{ kind: 'visitor', key, hash, erasedMs: Date.now() }])
    await completeErasures(writer, { inFlightMs: 0, ifStillRead: 'leave' })
  })
  model.erase(visitorId)
}

/** Removes rows of old months. What an account retains is cached for 4.5 s. @returns from when rows are left */
async function retain({ accountId, nowMs }: Account, months: History['retainedMonths']) {
  const now = new Date(nowMs)
  const [clicksMs, eventsMs] = months.map((count) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count)) as [
    number,
    number,
  ]
  for (const table of tables) await startMerges(api.stores, table)
  const audit = (postgres: Postgres) =>
    auditClause(postgres, 'retention.remove')`SELECT account_id, '{}'::jsonb FROM recorded`
  await withWriter(api.stores, accountId, running, (writer) =>
    removeMonths(writer, { clicksMs, eventsMs }, { audit, announceMs: 0 }),
  )
  for (const table of tables) await stopMerges(api.stores, table)
  return { retainedMs: clicksMs, eventsMs }
}

/** Values of entities are cached for 5 s. */
async function storeEntities({ accountId, model }: Account, entities: Entities): Promise<void> {
  model.entities = entities
  const sources = ['t1', 't2'].map((id) => ({ id, name: id, category: entities[id] }))
  await importContent(api.stores, accountId, 'traffic-sources', sources)
  const offers = ['o1', 'o2'].map((id) => ({ id, name: id, affiliateNetwork: entities[id] }))
  await importContent(api.stores, accountId, 'offers', offers)
}

type File =
  | { resource: 'clicks'; lines: ClickLine[] }
  | { resource: 'conversions'; lines: ConversionLine[] }
  | { resource: 'costs'; lines: CostLine[] }

interface Account {
  accountId: string
  key: string
  nowMs: number
  currency: History['currency']
  model: Model
  files: File[]
  /** Number of imports. Each import starts later than the one before it. */
  imports: number
}

async function apply(account: Account, step: Step): Promise<void> {
  const { files, key } = account
  if (step.kind === 'merge') {
    for (const table of tables) {
      await startMerges(api.stores, table)
      await changeTables(api.stores, `OPTIMIZE TABLE ${table} FINAL`)
      await stopMerges(api.stores, table)
    }
  } else if (step.kind === 'event') {
    const response = await post(api.app, key, { click_id: step.clickId, event_name: 'paid', value: 1e9 })
    const isStored = campaigns.includes(account.model.campaignOf(step.clickId) ?? '')
    expect([step, response.statusCode]).toEqual([step, isStored ? 200 : 404])
    const sent = { eventName: 'paid', atMs: account.nowMs - startOfDay(account), clickId: step.clickId }
    const id = `sent-${++account.imports}`
    if (isStored) account.model.storeEvents([{ ...sent, id, origin: 'server', generation: 0 }])
  } else if (step.kind === 'events') {
    const lines = account.model.storeEvents(step.lines)
    for (let copy = 0; copy <= step.copies; copy++) await storeCopies(account, lines, copy)
  } else if (step.kind !== 'repeat') {
    const { kind: resource, lines, interruption } = step
    const file = { resource, lines } as File
    files.push(file)
    await importFile(account, file, interruption)
  } else if (files.length > 0) {
    const file = files[step.which % files.length] as File
    await importFile(account, file.resource === 'clicks' ? { ...file, lines: [...file.lines, ...step.more] } : file)
  }
}

/** Later copies have a later time of receipt, and other values. */
async function storeCopies(account: Account, lines: readonly EventLine[], copy: number): Promise<void> {
  const { nowMs, accountId } = account
  const text = (ms: number) => instant(ms).replace('T', ' ').replace('Z', '')
  const rows = lines.map(({ id, origin, generation, atMs, eventName, clickId, visitorId, campaignId, properties }) => ({
    id,
    origin,
    generation,
    event_name: copy === 0 ? eventName : 'other',
    click_id: clickId ?? '',
    visitor_id: visitorId ?? '',
    campaign_id: campaignId ?? '',
    properties: properties ? JSON.stringify(properties) : '',
    occurred_at: text(startOfDay(account) + atMs + copy * 7 * 3_600_000),
    received_at: text(nowMs + ++account.imports),
  }))
  await storeEvents(api.stores, accountId, rows)
}

async function importFile(account: Account, file: File, interruption?: Interruption): Promise<void> {
  const { model } = account
  account.imports += 1
  const startedMs = account.nowMs + account.imports * 1_000
  const rows = rowsOfFile(account, file)
  const done = await importToEnd(account, file.resource, rows, interruption, startedMs)
  const expected = expectedTally()
  if (done) expect([file, done]).toMatchObject([file, expected])

  function expectedTally(): Tally {
    if (file.resource === 'clicks') return model.importClicks(file.lines)
    const name = JSON.stringify(rows)
    if (file.resource === 'conversions') return model.importConversions(file.lines, name)
    return model.importCosts(file.lines, name, startedMs - startOfDay(account))
  }
}

const startOfDay = ({ nowMs }: Account) => nowMs - (nowMs % dayMs)

function rowsOfFile(account: Account, { resource, lines }: File): object[] {
  const todayMs = startOfDay(account)
  const [timeName, amountName] = (
    { clicks: ['clickedAt', 'cost'], conversions: ['convertedAt', 'revenue'], costs: ['spentAt', 'cost'] } as const
  )[resource]
  type Line = Partial<ClickLine & ConversionLine & CostLine>
  return (lines as Line[]).map(({ atMs = 0, updatedAtMs, createdAtMs, revenue, cost, ...rest }) => ({
    ...rest,
    [timeName]: instant(todayMs + atMs),
    ...(updatedAtMs !== undefined && { updatedAt: instant(todayMs + updatedAtMs) }),
    ...(createdAtMs !== undefined && { createdAt: instant(todayMs + createdAtMs) }),
    ...amountFields(amountName, `${amountName}Base`, revenue ?? cost, account.currency),
  }))
}

/** @returns the counts; undefined when an import that was killed has stored some of the rows */
async function importToEnd(
  { accountId }: Account,
  resource: File['resource'],
  rows: readonly object[],
  interruption: Interruption | undefined,
  nowMs: number,
): Promise<Tally | undefined> {
  if (!interruption) return await importContent(api.stores, accountId, resource, rows, { nowMs })
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const error = interruption.failure === 'kill' ? new ImportKilled() : reset
  const broken = killedStores(api.stores, accountId, interruption.without, error)
  try {
    const done = await importContent(broken, accountId, resource, rows, { ...shortWindow, nowMs })
    if (done.said.includes('ClickHouse did not confirm a batch; checking what it stored.')) interrupted += 1
    return done
  } catch (thrown) {
    if (!(thrown instanceof ImportKilled)) throw thrown
    interrupted += 1
    await importContent(api.stores, accountId, resource, rows, { nowMs })
    return undefined
  } finally {
    for (const table of tables) await stopMerges(api.stores, table)
  }
}

function amountFields(name: string, baseName: string, given: ClickLine['cost'], currency: string): object {
  if (given === undefined) return {}
  const { amount, foreign } = given
  const fields = { [name]: inUnits(BigInt(amount)), ...(foreign && { currency: currency === 'USD' ? 'EUR' : 'USD' }) }
  if (foreign === undefined || foreign === 'unconvertible') return fields
  return 'base' in foreign
    ? { ...fields, [baseName]: inUnits(BigInt(foreign.base)) }
    : { ...fields, exchangeRate: inUnits(BigInt(foreign.exchangeRate)) }
}

/** @param clicksFromMs from when clicks are retained */
function modelRows(account: Account, clicksFromMs = 0): Rows {
  const { clicks, conversions, costs } = account.model
  const todayMs = startOfDay(account)
  const atEpoch = <Row extends { atMs: number; attributes: Attributes }>(row: Row) =>
    account.model.withEntities({ ...row, atMs: todayMs + row.atMs })
  const ofClicks = conversions.map((row) => ({ ...atEpoch(row), clickedMs: todayMs + row.clickedMs }))
  const events = account.model.eventsOf(clicksFromMs - todayMs).map(atEpoch)
  const facts = { clicks: clicks.map(atEpoch), conversions: ofClicks, costs: costs.map(atEpoch) }
  return { retainedMs: 0, eventsMs: 0, events, ...facts }
}

/** Compares a report, the stats of its range and filters, and the lists with a plain count. */
async function compare(account: Account, rows: Rows, query: WrittenQuery): Promise<void> {
  const { key, nowMs } = account
  const { text, statsText, range } = query
  const [response, overview] = await Promise.all([
    api.read(`/reports?${text}`, key, ReportResponse),
    api.read(`/stats/overview?${statsText}`, key, StatsOverview),
  ])
  const expected = expectedReport(query, rows, nowMs)
  const shown = response.data.map(({ name: _name, dimensions, ...row }) => {
    const ids = query.dimensions.map((name) => dimensions[name]?.id ?? '')
    expect([text, Object.keys(dimensions), idText(ids)]).toEqual([text, query.dimensions, row.id])
    return row
  })
  const { bucketCount, truncated, totals, countAt } = response
  const expectedCountAt = query.countsAtClick ? 'click' : undefined
  expect([text, countAt, overview.countAt]).toEqual([text, expectedCountAt, expectedCountAt])
  expect([text, bucketCount, truncated, totals]).toEqual([
    text,
    expected.bucketCount,
    expected.truncated,
    expected.totals,
  ])
  expect([text, shown]).toEqual([text, expected.data])
  const { previous } = response
  const retainedFrom = expected.lacksRows ? instant(boundaryOf(query, rows)) : null
  expect([text, response.retainedFrom, response.from, response.to, previous]).toEqual([
    text,
    retainedFrom,
    instant(range.fromMs),
    instant(range.untilMs),
    'previous' in expected
      ? { ...earlierOf(expected.previous), complete: expected.previous.range.untilMs <= nowMs }
      : undefined,
  ])
  // Stats may be read from sums where the report is read from rows.
  const ofStats = expectedReport({ ...query, ...ofSeries, dimensions: [] }, rows, nowMs)
  const earlier = 'previous' in ofStats ? { ...previous, totals: ofStats.previous.totals } : undefined
  expect([statsText, overview.totals, overview.previous]).toEqual([statsText, ofStats.totals, earlier])
  expect([statsText, overview.lateConversions]).toEqual([statsText, lateOf(query, rows, nowMs)])
  if (query.limit === 3) await compareSeries(account, rows, query)
  // Clicks cannot be listed by what only conversions have.
  if (rows.retainedMs > 0) return
  const ofConversions = /"(?:status|source|event_name|coupon_code|event_origin|property:[^"]*)"/
  if (!ofConversions.test(JSON.stringify(query.tree)))
    expect([text, await metricsOfLists(key, query)]).toEqual([text, ofStats.totals])
}

/** Conversions by click time that converted after the range. */
function lateOf(query: WrittenQuery, rows: Rows, nowMs: number): number | undefined {
  if (!query.countsAtClick) return undefined
  const late = rows.conversions.filter(({ atMs }) => atMs >= query.range.untilMs)
  return expectedReport({ ...query, ...ofSeries, dimensions: [] }, { ...rows, conversions: late }, nowMs).totals
    .conversions
}

/** The part of a query that stats lack. */
const ofSeries = {
  ...{
    withVisitors: false,
    eventMetrics: [],
    hasOnlyEvents: false,
    offset: 0,
    limit: 1_000,
    minClicks: 0,
    minConversions: 0,
    metricConditions: [],
  },
  sort: { by: 'id' as const, isDescending: false },
}

const earlierOf = ({ range, totals }: { range: { fromMs: number; untilMs: number }; totals: Metrics | null }) => ({
  from: instant(range.fromMs),
  to: instant(range.untilMs),
  totals,
})

async function compareSeries({ key, nowMs }: Account, rows: Rows, query: WrittenQuery): Promise<void> {
  const interval = intervals.find((name) => query.dimensions.includes(name)) ?? 'day'
  const path = `/stats/daily?${query.statsText}&interval=${interval}`
  const series = await api.read(path, key, StatsDaily)
  const idOf = (id: string) => (interval === 'month' ? `${id}-01` : id)
  const expected = expectedReport({ ...query, ...ofSeries, dimensions: [interval] }, rows, nowMs)
  const found = series.data.map(({ date: _date, complete: _complete, ...row }) => row)
  const isCounted = ({ clicks, conversions, ...row }: (typeof found)[number]) =>
    row.cost !== 0 ||
    clicks + conversions + row.pendingConversions + row.holdConversions > 0 ||
    row.declinedConversions + row.refundedConversions > 0
  expect([path, found.filter(isCounted)]).toEqual([
    path,
    expected.data.map(({ previous, id, ...row }) => ({
      id: idOf(id),
      ...row,
      ...(previous && { previous: { ...previous, id: previous.id && idOf(previous.id) } }),
    })),
  ])
  expect(series.data.map(({ id }) => id)).toEqual([...new Set(series.data.map(({ id }) => id))])
}

async function metricsOfLists(
  key: string,
  { range, filters, tree, limit, countsAtClick, bots }: WrittenQuery,
): Promise<Metrics> {
  const isOfConversions = ({ name }: { name: string }) => (conversionAttributeNames as readonly string[]).includes(name)
  // Small pages would take many requests.
  const parameters = [
    `from=${instant(range.fromMs)}`,
    `to=${instant(range.untilMs)}`,
    `limit=${Math.min(limit + 40, 200)}`,
    ...treeParameter(tree),
  ]
  const read = [parameters, filters.map(parameterOf)].flat().join('&')
  const ofClicks = [parameters, filters.filter((one) => !isOfConversions(one)).map(parameterOf)].flat().join('&')
  const isOfPeople = bots !== 'only'
  const withClicks = filters
    .filter(isOfConversions)
    .every(({ values, isExcluded }) => values.includes('(not set)') !== isExcluded)
  const clicks = withClicks ? await readPages(api, `/clicks?${ofClicks}`, key, ClickPage) : []
  const costs = withClicks && isOfPeople ? await readPages(api, `/costs?${ofClicks}`, key, CostPage) : []
  const ofConversions = countsAtClick ? read.replace(/from=[^&]*&to=[^&]*&/, '') : read
  const listed = isOfPeople ? await readPages(api, `/conversions?${ofConversions}`, key, ConversionPage) : []
  const isInRange = (time: string) => Date.parse(time) >= range.fromMs && Date.parse(time) < range.untilMs
  const conversions = countsAtClick
    ? listed.filter(({ clickedAt, convertedAt }) => isInRange(clickedAt ?? convertedAt))
    : listed
  // A double with at most 15 digits stands for one number of millionths.
  const millionths = (units: number | null) => BigInt(Math.round((units ?? 0) * 1e6))
  const shared = { atMs: 0, clickedMs: 0, attributes: {}, visitor: '', isBot: false }
  return metricsOf(
    clicks
      .filter(({ isBot, isTest }) => !isTest && (bots === 'include' || isBot === (bots === 'only')))
      .map(({ costBase }) => ({ ...shared, cost: millionths(costBase) })),
    conversions.map(({ status, revenueBase }) => ({ ...shared, status, revenue: millionths(revenueBase) })),
    costs.map(({ costBase }) => ({ ...shared, cost: millionths(costBase) })),
  )
}

function instant(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
