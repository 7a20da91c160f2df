// @module-tag long

import { beforeAll, expect, it } from 'vitest'
import { useTestApp } from '../../kit/app.ts'
import { makeDemoAccount } from '../../kit/demo.ts'
import { type Arguments, callTool, parseTable, type Table } from '../../kit/mcp.ts'

// Questions of an analyst, answered from what the tools print and nothing else, each in at most two calls. The expected answers are
// counted on exported rows. The present is Saturday, 21 November 2026, 15:00.

type Row = Record<string, string | number | boolean | null | undefined>
type Totals = { totals: Record<string, number>; previous: { totals: Record<string, number> } }
type Range = readonly [from: string, until: string]
type Metric = 'clicks' | 'conversions' | 'cost' | 'revenue' | 'profit'

const api = useTestApp()
let key: string
/** What clicks, approved conversions and costs count, each with its time. */
let facts: (Row & Record<Metric, number> & { at: string; clickAt: string })[]
let clicks: Row[]
let conversions: Row[]

beforeAll(async () => {
  key = await makeDemoAccount(api, 'demo', { clicks: 12_000, days: 60 })
  const rowsOf = async (path: string): Promise<Row[]> =>
    (await api.get(`${path}?format=ndjson`, key)).body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map((row) => ({ ...row, sub1: row.subIds?.sub1 }))
  clicks = await rowsOf('/clicks')
  conversions = await rowsOf('/conversions')
  const fact = (row: Row, at: unknown, amounts: Partial<Record<Metric, unknown>>) => {
    const [cost, revenue] = [Number(amounts.cost ?? 0), Number(amounts.revenue ?? 0)]
    const counts = { clicks: Number(amounts.clicks ?? 0), conversions: Number(amounts.conversions ?? 0) }
    return { ...row, at: `${at}`, clickAt: `${row.clickedAt ?? at}`, ...counts, cost, revenue, profit: revenue - cost }
  }
  facts = [
    ...clicks
      .filter(({ isBot, isTest }) => !isBot && !isTest)
      .map((row) => fact(row, row.clickedAt, { clicks: 1, cost: row.costBase })),
    ...conversions
      .filter(({ status, isTest }) => status === 'approved' && !isTest)
      .map((row) => fact(row, row.convertedAt, { conversions: 1, revenue: row.revenueBase })),
    ...(await rowsOf('/costs')).map((row) => fact(row, row.spentAt, { cost: row.costBase })),
  ]
}, 300_000)

/** Adds up a metric by a field of the rows of a range. */
function sums(
  metric: Metric,
  field: string,
  [from, until]: Range,
  isCounted = (_row: Row) => true,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of facts.filter((one) => one.at >= from && one.at < until && isCounted(one)))
    found.set(`${row[field] ?? '(not set)'}`, (found.get(`${row[field] ?? '(not set)'}`) ?? 0) + row[metric])
  return found
}
const total = (metric: Metric, range: Range) => sums(metric, '', range).get('(not set)') ?? 0
const week: Range = ['2026-11-16', '2026-11-23']
const weekBefore: Range = ['2026-11-09', '2026-11-14T15']
const thirtyDays: Range = ['2026-10-23', '2026-11-22']
/** The value of a field whose metric fell most since the week before. */
function mostFallen(metric: Metric, field: string, isCounted?: (row: Row) => boolean): string | undefined {
  const [before, now] = [weekBefore, week].map((range) => sums(metric, field, range, isCounted)) as [
    Map<string, number>,
    Map<string, number>,
  ]
  const change = (one: string) => (now.get(one) ?? 0) - (before.get(one) ?? 0)
  return [...new Set([...before.keys(), ...now.keys()])].toSorted((one, other) => change(one) - change(other))[0]
}
const money = (amount: unknown) => Math.round(Number(amount) * 100) / 100
const fallen = { range: 'this_week', compare: 'previous_period', sort: 'change.profit', limit: 1 }
const overview = { resource: 'stats/overview' }

/** The answer, and what the rows say. */
type Answer = (
  ask: (name: string, given: Arguments) => Promise<Table & { head: Totals }>,
) => Promise<[unknown, unknown]>
const questions: Record<string, Answer> = {
  async 'which campaign lost most this week, and in which country'(ask) {
    const [campaign] = (await ask('get_reports', { ...fallen, group_by: 'campaign' })).rows
    const [country] = (await ask('get_reports', { ...fallen, group_by: 'country', campaign_id: campaign?.id })).rows
    const expected = mostFallen('profit', 'campaignId')
    const ofCampaign = ({ campaignId }: Row) => campaignId === expected
    return [
      [campaign?.id, country?.id],
      [expected, mostFallen('profit', 'country', ofCampaign)],
    ]
  },
  async 'revenue of the month to date against the same days of last month'(ask) {
    const { totals, previous } = (
      await ask('get_stats', { ...overview, range: 'this_month', compare: 'previous_period' })
    ).head
    const expected = [total('revenue', ['2026-11-01', '2026-12']), total('revenue', ['2026-10-01', '2026-10-21T15'])]
    return [[totals.revenue, previous.totals.revenue].map(money), expected.map(money)]
  },
  async 'the share of mobile'(ask) {
    const { head, rows } = await ask('get_reports', { group_by: 'device', days: 30, metrics: 'clicks' })
    const mobile = Number(rows.find(({ id }) => id === 'mobile')?.clicks)
    const expected = sums('clicks', 'device', thirtyDays).get('mobile') ?? 0
    return [mobile / (head.totals.clicks ?? 0), expected / total('clicks', thirtyDays)]
  },
  async 'which campaigns cost money without a conversion'(ask) {
    const filters = [
      ['>', 'cost', 0],
      ['=', 'conversions', 0],
    ]
    const { rows } = await ask('get_reports', { group_by: 'campaign', days: 3, filters, limit: 100 })
    const range: Range = ['2026-11-19', '2026-11-22']
    const converted = sums('conversions', 'campaignId', range)
    const expected = [...sums('cost', 'campaignId', range)].filter(([id, cost]) => cost > 0 && !converted.get(id))
    return [rows.map(({ id }) => id).sort(), expected.map(([id]) => id).sort()]
  },
  async 'revenue of clicks of 2 November, whenever they converted'(ask) {
    const { totals } = (
      await ask('get_stats', { ...overview, from: '2026-11-02', to: '2026-11-02', count_at: 'click' })
    ).head
    const expected = facts.filter(({ clickAt }) => clickAt.startsWith('2026-11-02'))
    return [money(totals.revenue), money(expected.reduce((sum, { revenue }) => sum + revenue, 0))]
  },
  async 'how many conversions of this week came late, of clicks before it'(ask) {
    const at = async (count_at: string) =>
      (await ask('get_stats', { ...overview, range: 'this_week', count_at })).head.totals.conversions ?? 0
    const expected = facts.filter(({ conversions, at, clickAt }) => conversions && at >= week[0] && clickAt < week[0])
    return [(await at('conversion')) - (await at('click')), expected.length]
  },
  async 'how fresh the numbers are'(ask) {
    const { dataThrough } = (await ask('get_stats', { ...overview, range: 'today' })).head as unknown as {
      dataThrough: Row
    }
    const latest = (rows: Row[], field: string) =>
      rows
        .map((row) => `${row[field]}`)
        .sort()
        .at(-1)
    return [
      [dataThrough.clicks, dataThrough.conversions],
      [latest(clicks, 'clickedAt'), latest(conversions, 'convertedAt')],
    ]
  },
  async 'how many clicks the five top cities have'(ask) {
    const { rows } = await ask('get_reports', { group_by: 'city', days: 30, limit: 5, metrics: 'clicks' })
    const expected = [...sums('clicks', 'city', thirtyDays).values()].sort((one, other) => other - one)
    return [rows.map((row) => Number(row.clicks)), expected.slice(0, 5)]
  },
  async 'which landing page fell'(ask) {
    const { rows } = await ask('get_reports', { ...fallen, group_by: 'landing_page', sort: 'change.clicks' })
    return [rows[0]?.id, mostFallen('clicks', 'landingPageId')]
  },
  async 'which bots came today'(ask) {
    const given = { resource: 'clicks', range: 'today', is_bot: true, fields: ['id', 'userAgent'], limit: 100 }
    const bots = clicks.filter(({ isBot, clickedAt }) => isBot && `${clickedAt}` >= '2026-11-21')
    const texts = (rows: Row[]) => rows.map(({ id, userAgent }) => `${id} ${userAgent}`).sort()
    return [texts((await ask('list_rows', given)).rows), texts(bots)]
  },
  async 'what changed since yesterday at this time'(ask) {
    const { totals, previous } = (await ask('get_reports', { ...fallen, group_by: 'campaign', range: 'today' })).head
    const metrics: Metric[] = ['clicks', 'conversions', 'cost']
    const changes = metrics.map((name) => (totals[name] ?? 0) - (previous.totals[name] ?? 0))
    const expected = metrics.map(
      (name) => total(name, ['2026-11-21', '2026-11-22']) - total(name, ['2026-11-20', '2026-11-20T15']),
    )
    return [changes.map(money), expected.map(money)]
  },
  async 'CPA by sub id with at least 20 clicks'(ask) {
    const { rows } = await ask('get_reports', {
      group_by: 'sub1',
      days: 60,
      min_clicks: 20,
      metrics: 'cpa',
      sort: 'cpa',
    })
    const of = (metric: Metric) => sums(metric, 'sub1', ['2026-09-23', '2026-11-22'])
    const [counts, converted, cost] = [of('clicks'), of('conversions'), of('cost')]
    const expected = [...counts]
      .filter(([, count]) => count >= 20)
      .map(([id]) => [id, money((cost.get(id) ?? 0) / (converted.get(id) ?? 0))])
    return [rows.map(({ id, cpa }) => [id, money(cpa)]).sort(), expected.sort()]
  },
}

it.each(Object.entries(questions))('%s', async (_question, answer) => {
  let calls = 0
  const [given, expected] = await answer(async (name, args) => {
    calls += 1
    const { isError, texts } = await callTool(api.app, key, name, args)
    expect([isError, texts]).toEqual([false, expect.anything()])
    return parseTable(texts[0]) as Table & { head: Totals }
  })
  expect([given, JSON.stringify(expected)]).toEqual([expected, expect.stringMatching(/[1-9a-z]/)])
  expect(calls).toBeLessThanOrEqual(2)
})
