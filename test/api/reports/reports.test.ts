import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { FunnelResponse } from '../../../schema/funnel.ts'
import { type Metric, metricNames } from '../../../schema/metrics.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { nextQuery } from '../../../src/api/reports/nextQuery.ts'
import { sumMetrics } from '../../../src/query/metricDefinitions.ts'
import { formatMillionths } from '../../../src/query/money.ts'
import { recoverAccounts } from '../../../src/writer/serverRecovery.ts'
import { importContent } from '../../import/runImport.ts'
import { getFrom, useTestApp } from '../../kit/app.ts'
import { storeClicks } from '../../kit/rows.ts'

// The numbers of any report, its groups, their order, filters and comparisons: test/properties/reports.

const api = useTestApp()
let key: string

const clicks = [
  { id: 'c1', clickedAt: '2026-10-24T21:59:59.999Z', campaignId: 'k1', country: 'DE', device: 'mobile', cost: 1 },
  { id: 'c2', clickedAt: '2026-10-25T00:30:00Z', campaignId: 'k1', country: 'DE', device: 'desktop', cost: 2 },
  { id: 'c3', clickedAt: '2026-10-25T01:30:00Z', campaignId: 'k2', country: 'AT', device: 'mobile', cost: 3 },
  { id: 'c4', clickedAt: '2026-10-25T23:00:00Z', campaignId: 'k2', country: 'AT', cost: 4 },
  { id: 'c5', clickedAt: '2026-10-26T12:00:00Z', device: 'tablet' },
]
const conversions = [
  { id: 'v1', convertedAt: '2026-10-25T10:00:00Z', status: 'approved', clickId: 'c1', revenue: 10 },
  { id: 'v2', convertedAt: '2026-10-26T10:00:00Z', status: 'approved', clickId: 'c4', revenue: 20 },
  { id: 'v3', convertedAt: '2026-10-26T11:00:00Z', status: 'pending', campaignId: 'k1', revenue: 40 },
  // A country has a bucket even if its only conversion is not approved.
  { id: 'v4', convertedAt: '2026-10-25T12:00:00Z', status: 'hold', country: 'CH', revenue: 1 },
  { id: 'v5', convertedAt: '2026-10-25T13:00:00Z', status: 'declined', clickId: 'c2', revenue: 2 },
  { id: 'v6', convertedAt: '2026-10-26T14:00:00Z', status: 'refunded', clickId: 'c3', revenue: 3 },
  { id: 'v7', convertedAt: '2026-10-26T15:00:00Z', status: 'chargeback', clickId: 'c2', revenue: 5 },
]
const range = 'from=2026-10-24&to=2026-10-26'

beforeAll(async () => {
  key = await api.account('acme')
  await importContent(api.stores, 'acme', 'campaigns', [{ id: 'k1', name: 'Spring' }])
  await importContent(api.stores, 'acme', 'clicks', clicks)
  await importContent(api.stores, 'acme', 'conversions', conversions)
})

const report = (query: string, by = key) => api.read(`/reports?${range}&${query}`, by, ReportResponse)

it('a condition matches the bucket that shows its number, also where several amounts are shown as one number', async () => {
  const large = await api.account('large')
  const texts =
    '8600000000.123457 8600000000.123458 -8600000000.123457 123456789012.345678 999999999999.999999 0.000001'
  const amounts = [...texts.split(' '), '999999999999.999999', '33.333333']
  const spentAt = '2026-10-25T00:00:00Z'
  // Two amounts of `k6` add up to more than one amount can be.
  const costs = amounts.map((cost, n) => ({ id: `x${n}`, spentAt, campaignId: `k${Math.min(n, 6)}`, cost }))
  await importContent(api.stores, 'large', 'costs', [...costs, { ...costs[4], id: 'more', campaignId: 'k6' }])
  const { data } = await report('group_by=campaign&sort=cost&metrics=cost', large)
  expect(data).toHaveLength(7)
  for (const { cost = 0 } of data) {
    const isOf = {
      '=': (one: number) => one === cost,
      '>': (one: number) => one > cost,
      '>=': (one: number) => one >= cost,
      '<': (one: number) => one < cost,
      '<=': (one: number) => one <= cost,
    }
    for (const [operator, matches] of Object.entries(isOf)) {
      const filters = JSON.stringify([[operator, 'cost', cost]])
      const found = await report(
        `group_by=campaign&sort=cost&metrics=cost&filters=${encodeURIComponent(filters)}`,
        large,
      )
      expect([filters, found.data]).toEqual([filters, data.filter((row) => matches(row.cost ?? 0))])
    }
  }
})

it('dataThrough has the latest time of the rows of each kind that is not in the future, whatever the report selects', async () => {
  await api.account('through')
  const read = async () => {
    // Another server: this one may still have the times of before.
    const server = await api.open()
    const reader = await api.keyOf('through', ['read:reports', 'read:stats'])
    const paths = [
      '/reports?group_by=country&from=2020-01-01&to=2020-01-02&country=FR',
      '/stats/daily',
      '/stats/overview',
    ]
    const bodies = paths.map(async (path) => (await getFrom(server, path, reader)).json())
    const [first, ...others] = (await Promise.all(bodies)).map(({ dataThrough }) => dataThrough)
    expect(others).toEqual([first, first])
    return first
  }
  expect(await read()).toEqual({ clicks: null, conversions: null, costs: null })
  const bot = { id: 'bot', clickedAt: '2026-01-03T00:00:00.001Z', isBot: true }
  const future = { id: 'future', clickedAt: '2105-01-01T00:00:00Z' }
  await importContent(api.stores, 'through', 'clicks', [
    ...clicks.map((click) => ({ ...click, clickedAt: '2025-12-01T00:00:00Z' })),
    bot,
    future,
  ])
  await importContent(api.stores, 'through', 'costs', [{ id: 'x', spentAt: '2026-01-02T00:00:00Z', cost: 1 }])
  const through = { clicks: '2026-01-03T00:00:00.001Z', conversions: null, costs: '2026-01-02T00:00:00.000Z' }
  expect(await read()).toEqual(through)
  // Earlier rows, and a cost that moves to an earlier day, do not lower it.
  await importContent(api.stores, 'through', 'clicks', [{ id: 'early', clickedAt: '2024-01-01T00:00:00Z' }])
  const earlier = { id: 'x', spentAt: '2026-01-01T00:00:00Z', cost: 1 }
  await importContent(api.stores, 'through', 'costs', [earlier], { nowMs: Date.UTC(2026, 10, 22) })
  expect(await read()).toEqual(through)
  // A server computes it for an account that an earlier version has filled.
  await api.stores.postgres`UPDATE watermarks SET data_through = NULL WHERE account_id = 'through'`
  expect(await read()).toEqual({ clicks: null, conversions: null, costs: null })
  const log = { info: () => {}, warn: (line: string) => expect(line).toBe('') }
  await recoverAccounts(api.stores, log, new AbortController().signal)
  // Until a merge, the table has the cost at its earlier time too.
  expect(await read()).toEqual({ ...through, costs: expect.stringMatching(/^2026-01-0[12]T/) })
})

describe('a report', () => {
  it('has its range, and one row per combination with id and name of each dimension', async () => {
    expect(await report('group_by=campaign,country&metrics=clicks,revenue')).toEqual({
      groupBy: 'campaign,country',
      currency: 'USD',
      bucketCount: 5,
      truncated: false,
      next: null,
      from: '2026-10-24T00:00:00.000Z',
      to: '2026-10-27T00:00:00.000Z',
      asOf: '2026-11-21T15:00:00.000Z',
      retainedFrom: null,
      dataThrough: { clicks: '2026-10-26T12:00:00.000Z', conversions: '2026-10-26T15:00:00.000Z', costs: null },
      totals: { clicks: 5, revenue: 30 },
      data: [
        {
          id: '["k1","DE"]',
          name: 'Spring / Germany',
          clicks: 2,
          revenue: 10,
          dimensions: { campaign: { id: 'k1', name: 'Spring' }, country: { id: 'DE', name: 'Germany' } },
        },
        {
          id: '["k2","AT"]',
          name: 'k2 / Austria',
          clicks: 2,
          revenue: 20,
          dimensions: { campaign: { id: 'k2', name: null }, country: { id: 'AT', name: 'Austria' } },
        },
        expect.objectContaining({ id: '["(not set)","(not set)"]', clicks: 1 }),
        expect.objectContaining({ id: '["(not set)","CH"]', name: '(not set) / Switzerland', clicks: 0 }),
        expect.objectContaining({ id: '["k1","(not set)"]', name: 'Spring / (not set)', clicks: 0 }),
      ],
    })
  })

  it.each(metricNames)('of %s alone has the buckets, the order and the values of the whole report', async (metric) => {
    const only = (row?: object | null) => Object.entries(row ?? {}).filter(([name]) => name === metric)
    const metricsOf = (row?: object | null) => Object.entries(row ?? {}).filter(([name]) => name in allTotals)
    const { totals: allTotals } = await report('group_by=country')
    for (const query of [`group_by=country&sort=${metric}`, 'group_by=day&compare=previous_period&sort=-epc']) {
      const all = await report(query)
      const selected = await report(`${query}&metrics=${metric}`)
      expect([selected.bucketCount, metricsOf(selected.totals)]).toEqual([all.bucketCount, only(all.totals)])
      expect(metricsOf(selected.previous?.totals)).toEqual(only(all.previous?.totals))
      expect(selected.data.map((row) => [row.id, metricsOf(row), metricsOf(row.previous)])).toEqual(
        all.data.map((row) => [row.id, only(row), only(row.previous)]),
      )
    }
  })

  it('has the selected metrics in the order of the schema', async () => {
    const { data } = await report('group_by=country&metrics=epc,clicks&limit=1&sort=-revenue')
    expect(JSON.stringify(data)).toBe(
      '[{"id":"AT","name":"Austria","dimensions":{"country":{"id":"AT","name":"Austria"}},"clicks":2,"epc":10}]',
    )
  })

  it('names weekdays in English, and time zones as IANA does', async () => {
    const { data, tz } = await report('tz=europe/berlin&group_by=weekday&sort=id')
    const shown = [tz, ...data.map(({ id, name }) => `${id} ${name}`)]
    expect(shown).toEqual(['Europe/Berlin', '1 Monday', '6 Saturday', '7 Sunday'])
  })

  it('as CSV has the columns of each dimension, earlier metrics and a line of totals', async () => {
    const csv = async (query: string) => (await api.get(`/reports?${range}&format=csv&${query}`, key)).body.split('\n')
    expect(await csv('group_by=campaign,country&metrics=clicks,epc&limit=1&totals=true')).toEqual([
      '"campaign_id","campaign_name","country_id","country_name","clicks","epc"',
      '"k1","Spring","DE","Germany",2,5',
      '"(total)","of 5 rows",,,5,6',
      '',
    ])
    expect((await csv('group_by=country&metrics=clicks&totals=true')).at(-2)).toBe('"(total)",,5')
    const compared = 'group_by=device&metrics=clicks&compare=previous_period&totals=true&limit=1'
    expect(await csv(compared)).toEqual([
      '"device_id","device_name","clicks","previous_clicks"',
      '"mobile","mobile",2,0',
      '"(total)","of 4 rows",5,0',
      '',
    ])
  })
})

describe('a report with many buckets', () => {
  const campaigns = 1_100
  let many: string

  beforeAll(async () => {
    many = await api.account('many')
    const numbers = Array.from({ length: campaigns }, (_, n) => n)
    const clicks = numbers.map((n) => ({ id: `c${n}`, clicked_at: '2026-10-25 10:00:00.000', campaign_id: `k${n}` }))
    await storeClicks(api.stores, 'many', clicks)
  })

  it('are all compared with, also if the report has few', async () => {
    const key = await api.account('few')
    const clicks = Array.from({ length: campaigns }, (_, n) => ({
      id: `c${n}`,
      clicked_at: '2026-10-22 10:00:00.000',
      campaign_id: `k${n}`,
    }))
    const later = [0, campaigns - 1].map((n) => ({
      id: `d${n}`,
      clicked_at: '2026-10-25 10:00:00.000',
      campaign_id: `k${n}`,
    }))
    await storeClicks(api.stores, 'few', [...clicks, ...later])
    const compared = 'group_by=campaign&compare=previous_period&metrics=clicks'
    const { data, bucketCount, previous } = await report(compared, key)
    expect([bucketCount, previous?.totals?.clicks]).toEqual([2, campaigns])
    expect(data.map((row) => [row.id, row.clicks, row.previous?.clicks])).toEqual([
      ['k0', 1, 1],
      [`k${campaigns - 1}`, 1, 1],
    ])
  })

  const nextOf = ({ link }: { link?: unknown }) => /^<\/api\/v1(.*)>; rel="next"$/.exec(`${link}`)?.[1]
  const last30Days = 'from=2026-10-23T00:00:00.000Z&to=2026-11-22T00:00:00.000Z'

  it.each([
    ['from=2026-10-24&to=2026-10-26', 'from=2026-10-24T00:00:00.000Z&to=2026-10-27T00:00:00.000Z', ''],
    ['days=30', last30Days, '&previous_until=2025-11-21T15:00:00.000Z'],
    ['', last30Days, '&previous_until=2025-11-21T15:00:00.000Z'],
  ])('returns all of them in CSV by its links, in the ranges of the first page: %s', async (sent, from, until) => {
    const found: string[] = []
    let path: string | undefined =
      `/reports?group_by=campaign&limit=400&compare=previous_year&city=!a:%2Fb&city=!ß&${sent}`
    for (let pages = 1; path; pages++) {
      const { body, headers } = await api.get(path, many, { accept: pages === 1 ? 'text/csv' : '*/*' })
      const rows = body.trim().split('\n').slice(1)
      expect([rows.length, headers['x-truncated']]).toEqual(pages < 3 ? [400, 'true'] : [300, 'false'])
      expect(headers['x-bucket-count']).toBe(`${campaigns}`)
      found.push(...rows)
      path = nextOf(headers)
      const parameters = path?.split(/[?&]/).slice(1)
      const kept = 'group_by=campaign&city=!a:%2Fb,!%C3%9F&limit=400&compare=previous_year&format=csv'
      const expected = `${from}${until}&offset=${pages * 400}&${kept}`.split('&')
      expect(parameters?.sort()).toEqual(pages < 3 ? expected.sort() : undefined)
    }
    expect(new Set(found).size).toBe(campaigns)
  })

  it('is ordered by the change to the other range, and by time, also of two hours with one local time', async () => {
    const hours = await api.account('hours')
    const clickedAt = ['2026-10-24T00:10Z', '2026-10-24T00:20Z', '2026-10-24T00:30Z', '2026-10-25T00:10Z']
    const times = [...clickedAt, '2026-10-25T01:10Z', '2026-10-25T01:20Z', '2026-10-25T04:00Z']
    const rows = times.map((at, n) => ({ id: `h${n}`, clicked_at: at.replace('T', ' ').replace('Z', ':00.000') }))
    await storeClicks(api.stores, 'hours', rows)
    const query = 'group_by=hour&from=2026-10-25&to=2026-10-25&tz=Europe/Berlin&compare=previous_period&metrics=clicks'
    const { data } = await api.read(`/reports?${query}&sort=-change.clicks`, hours, ReportResponse)
    expect(data.map(({ id, clicks, previous }) => [id, clicks, previous?.clicks])).toEqual([
      ['2026-10-25T05:00+01:00', 1, 0],
      ['2026-10-25T02:00+01:00', 2, 3],
      ['2026-10-25T02:00+02:00', 1, 3],
    ])
    const byTime = await api.read(`/reports?${query}&sort=id`, hours, ReportResponse)
    expect(byTime.data.map(({ id }) => id.slice(11))).toEqual(['02:00+02:00', '02:00+01:00', '05:00+01:00'])
    for (const [name, value] of [
      ['sort', 'change.clicks'],
      ['previous_until', '2026-10-25'],
    ]) {
      const refused = await api.get(`/reports?group_by=hour&days=2&${name}=${value}`, hours)
      expect([refused.statusCode, refused.json().error]).toEqual([400, `invalid_${name}`])
    }
  })

  it('has a next page up to the largest offset, and none beyond', () => {
    const page = { query: { group_by: 'day' }, range: { fromMs: 0, untilMs: 1 }, compared: undefined, nowMs: 1 }
    const next = (offset: number, rows: number) => nextQuery({ ...page, offset }, rows)
    expect(next(999_000, 1_000)).toMatch(/&offset=1000000$/)
    expect([next(999_001, 1_000), next(1_000_000, 1)]).toEqual([null, null])
  })
})

describe('the rows of a report', () => {
  /** Metrics in millionths. */
  type Values = Readonly<Record<Metric, bigint>>
  interface Row {
    id: string
    values: Values
  }

  /** Metrics that are computed from others, exactly, in millionths; null for a null ratio. */
  const computed: Partial<Record<Metric, (values: Values) => bigint | null>> = {
    profit: ({ revenue, cost }) => revenue - cost,
    roi: ({ revenue, cost }) => quotient((revenue - cost) * 100n, cost),
    cr: ({ conversions, clicks }) => quotient(conversions * 100n, clicks),
    epc: ({ revenue, clicks }) => quotient(revenue, clicks),
    cpa: ({ cost, conversions }) => quotient(cost, conversions),
    cpc: ({ cost, clicks }) => quotient(cost, clicks),
    aov: ({ revenue, conversions }) => quotient(revenue, conversions),
  }

  /** Rounds half away from zero at the sixth decimal. */
  function quotient(n: bigint, d: bigint): bigint | null {
    if (d === 0n) return null
    const size = (2_000_000n * (n < 0n ? -n : n) + d) / (2n * d)
    return n < 0n ? -size : size
  }

  // Small amounts and counts, so that many ratios are equal once they are rounded, and amounts beyond the exact doubles.
  const count = fc.nat(4).map((rows) => BigInt(rows) * 1_000_000n)
  const amount = fc.oneof(
    { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 4n }) },
    fc.bigInt({ min: 10n ** 15n - 2n, max: 10n ** 15n + 2n }),
    fc.bigInt({ min: 10n ** 20n, max: 10n ** 20n + 2n }),
  )
  const values = Object.fromEntries(metricNames.map((name) => [name, /revenue|cost/i.test(name) ? amount : count]))
  const rows = fc.uniqueArray(
    fc.record({
      id: fc.string({ unit: fc.constantFrom('a', 'B', 'é', '😀', '\uffff'), minLength: 1, maxLength: 5 }),
      values: fc.record(values) as fc.Arbitrary<Values>,
    }),
    { selector: ({ id }) => id, minLength: 300, maxLength: 300 },
  )
  const [stored = []] = fc.sample(rows, 1)
  const isShown = ({ values }: Row) =>
    sumMetrics.some(({ metric, unit }) => unit === 'count' && values[metric] > 0n) && values.clicks >= 1_000_000n
  const shown = stored.filter(isShown)
  const byId = (one: Row, other: Row) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id))

  let other: string
  beforeAll(async () => {
    other = await api.account('ordered')
    // Sums, since the amounts of a row end below 10^12.
    await api.stores.clickhouse.client.insert({
      table: 'sums_by_day',
      format: 'JSONEachRow',
      values: stored.map(({ id, values }) => ({
        account_id: 'ordered',
        dimension: 'os',
        day: '2026-10-25',
        value: id,
        ...Object.fromEntries(
          sumMetrics.map(({ metric, name, unit }) => {
            const value = formatMillionths(values[metric])
            return [name, unit === 'count' ? Number(value) : value]
          }),
        ),
      })),
    })
  })

  it.each([...metricNames, 'id'] as const)('are ordered by their exact %s, null last, and then by id', async (name) => {
    const ids = shown.toSorted(byId).map(({ id }) => id)
    const orderedBy = ({ id, values }: Row) => {
      if (name === 'id') return BigInt(ids.indexOf(id))
      return computed[name] ? computed[name](values) : values[name]
    }
    for (const sort of [name, `-${name}`]) {
      const expected = shown.toSorted((one, other) => {
        const [a, b] = [orderedBy(one), orderedBy(other)]
        if (a === b) return byId(one, other)
        if (a === null || b === null) return a === null ? 1 : -1
        return a < b === (sort !== name) ? 1 : -1
      })
      const { data } = await report(`group_by=os&min_clicks=1&sort=${sort}`, other)
      expect(data.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    }
  })
})

describe('a text of more than 256 bytes', () => {
  /** Around 220 and 256 bytes, many with the same beginning, in characters of one to four bytes. */
  const text = fc
    .tuple(
      fc.constantFrom(0, 73, 110, 216, 253),
      fc.string({ unit: fc.constantFrom(...'aé€😀…\u0301'), maxLength: 12 }),
    )
    .map(([length, end]) => 'aé€'.repeat(85).slice(0, length) + end.repeat(3))
  const [sampled = []] = fc.sample(fc.uniqueArray(text.filter(Boolean), { minLength: 80, maxLength: 80 }), 1)
  const shownOf = (whole: string) => {
    if (Buffer.byteLength(whole) <= 256) return whole
    const digest = createHash('sha256').update(whole).digest('hex').slice(0, 32)
    let start = ''
    for (const character of whole) {
      if (Buffer.byteLength(start + character) > 220) break
      start += character
    }
    return `${start}…${digest}`
  }
  const longest = '😀'.repeat(4_096)
  // One text is the form of another one: they share a bucket and every filter by the form.
  const texts = [...sampled, longest, 'x'.repeat(257), shownOf('x'.repeat(257)), `${'x'.repeat(256)}y`]
  const escaped = (value: string) => encodeURIComponent(value.replace(/[\\,]|^!/g, '\\$&'))

  beforeAll(async () => {
    key = await api.account('long')
    const rowOf = (sub1: string, n: number) => ({ clickedAt: `2026-10-2${4 + (n % 2)}T12:00:00Z`, subIds: { sub1 } })
    const rows = texts.map((value, n) => ({ id: `c${n}`, ...rowOf(value, n), os: value, utmTerm: value }))
    await importContent(api.stores, 'long', 'clicks', rows)
    const converted = texts.map((couponCode, n) => ({ id: `v${n}`, convertedAt: rows[n]?.clickedAt, couponCode }))
    const approved = converted.map((row, n) => ({ ...row, clickId: `c${n}`, status: 'approved', revenue: 1 }))
    await importContent(api.stores, 'long', 'conversions', approved)
    await importContent(api.stores, 'long', 'campaigns', [{ id: 'k', name: longest }])
    await importContent(api.stores, 'long', 'costs', [{ spentAt: '2026-10-24T12:00:00Z', campaignId: 'k', cost: 1 }])
  })

  it('is shown in reports by its first characters and its hash, each text in a bucket of its own', async () => {
    const forms = [...new Set(texts.map(shownOf))].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (const dimension of ['sub1', 'os', 'utm_term', 'coupon_code']) {
      const { data } = await report(`group_by=${dimension}&sort=id&metrics=conversions&compare=previous_year`, key)
      const found = data.filter(({ id }) => id !== '(not set)')
      expect(found.map(({ id, name, conversions: n }) => [id, name, n])).toEqual(
        forms.map((form) => [form, form, texts.filter((value) => shownOf(value) === form).length]),
      )
    }
    const { data } = await report('group_by=sub1,os&compare_from=2026-10-25&compare_to=2026-10-27&sort=id', key)
    const moved = texts.flatMap((value, n) => (n % 2 ? [JSON.stringify([shownOf(value), shownOf(value)])] : []))
    const previous = data.filter((row) => row.previous?.clicks).map(({ id }) => id)
    expect(previous).toEqual(data.flatMap(({ id }) => (moved.includes(id) ? [id] : [])))
    expect((await report('group_by=campaign', key)).data).toMatchObject([{}, { name: shownOf(longest) }])
  })

  it('is selected by its form and by its whole text, on every endpoint', async () => {
    const idsOf = async (path: string) => {
      const response = await api.get(path, key)
      expect([path, response.statusCode]).toEqual([path, 200])
      return response.json().data.map(({ id }: { id: string }) => id.slice(1))
    }
    const names = ['sub1', 'os', 'utm_term'] as const
    for (const [place, value] of texts.slice(-6).entries()) {
      const name = names[place % names.length]
      const forms = [...new Set([shownOf(value), value])].filter((form) => form.length < 400)
      for (const form of forms) {
        const isSelected = (other: string) => form === other || form === shownOf(other)
        const [selected, others] = [true, false].map((wanted) =>
          texts.flatMap((other, n) => (isSelected(other) === wanted ? [`${n}`] : [])).sort(),
        )
        const tree = encodeURIComponent(JSON.stringify([['is_not', name, [form]]]))
        for (const list of ['clicks', 'conversions']) {
          expect((await idsOf(`/${list}?limit=200&${name}=${escaped(form)}`)).sort()).toEqual(selected)
          expect((await idsOf(`/${list}?limit=200&filters=${tree}`)).sort()).toEqual(others)
        }
        const { totals } = await report(`group_by=day&${name}=${escaped(form)}`, key)
        expect([totals.clicks, totals.conversions]).toEqual([selected?.length, selected?.length])
        const funnel = `/funnels?${range}&by=click&steps=click,conversion&sub1=${escaped(form)}`
        const { steps } = await api.read(funnel, key, FunnelResponse)
        expect(steps.map(({ entered }) => entered)).toEqual([selected?.length, selected?.length])
      }
    }
    const whole = encodeURIComponent(JSON.stringify([['contains', 'sub1', ['xxxy']]]))
    expect(await idsOf(`/clicks?filters=${whole}`)).toEqual([`${texts.length - 1}`])
  })
})
