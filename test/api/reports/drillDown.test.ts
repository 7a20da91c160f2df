import { beforeAll, describe, expect, it } from 'vitest'
import { ReportResponse } from '../../../schema/report.ts'
import { StatsDaily, StatsOverview } from '../../../schema/stats.ts'
import { importContent } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'

const api = useTestApp()
let key: string

/** Clicks on three days of a clock change in Berlin, and conversions of some of them. */
const clicks = [
  {
    ...{ id: 'c1', clickedAt: '2026-10-24T21:59:59.999Z', campaignId: 'k1', country: 'DE', device: 'mobile', cost: 1 },
    ...{ region: 'Bavaria', city: 'Munich', language: 'de-DE,de;q=0.9', os: 'iOS', osVersion: '18.1' },
    ...{ browserVersion: '129', referrer: 'https://WWW.Example.com:8443/a?b', utmSource: 'news', utmTerm: 'a, b' },
    subIds: { sub1: 'x', sub10: '!y' },
  },
  { id: 'c2', clickedAt: '2026-10-25T00:30:00Z', campaignId: 'k1', country: 'DE', device: 'desktop', cost: 2 },
  { id: 'c3', clickedAt: '2026-10-25T01:30:00Z', campaignId: 'k2', country: 'AT', device: 'mobile', cost: 3 },
  { id: 'c4', clickedAt: '2026-10-25T23:00:00Z', campaignId: 'k2', country: 'AT', language: 'DE-at', cost: 4 },
  { id: 'c5', clickedAt: '2026-10-26T12:00:00Z', device: 'tablet', referrer: 'not a url', subIds: { sub1: 'x' } },
]
const conversions = [
  { id: 'v1', convertedAt: '2026-10-25T10:00:00Z', status: 'approved', clickId: 'c1', revenue: 10 },
  { id: 'v2', convertedAt: '2026-10-26T10:00:00Z', status: 'approved', clickId: 'c4', revenue: 20 },
  { id: 'v3', convertedAt: '2026-10-26T11:00:00Z', status: 'pending', campaignId: 'k1', revenue: 40 },
]
const range = 'from=2026-10-24&to=2026-10-26'

beforeAll(async () => {
  key = await api.account('acme')
  await importContent(api.stores, 'acme', 'campaigns', [{ id: 'k1', name: 'Spring' }])
  await importContent(api.stores, 'acme', 'conversions', conversions)
  // The clicks arrive after their conversions.
  await importContent(api.stores, 'acme', 'clicks', clicks)
})

const report = (query: string) => api.read(`/reports?${range}&${query}`, key, ReportResponse)
const buckets = async (query: string) =>
  (await report(query)).data.map(({ id, clicks, conversions }) => [id, clicks, conversions])
const csv = async (query: string) => (await api.get(`/reports?${range}&format=csv&${query}`, key)).body.split('\n')

describe('a report with several dimensions', () => {
  it('has one row per combination, with id and name of each dimension', async () => {
    const { groupBy, data, totals, bucketCount } = await report('group_by=campaign,country&metrics=clicks,revenue')
    expect([groupBy, bucketCount, totals]).toEqual(['campaign,country', 4, { clicks: 5, revenue: 30 }])
    expect(data).toEqual([
      {
        id: '["k1","DE"]',
        name: 'Spring / Germany',
        dimensions: { campaign: { id: 'k1', name: 'Spring' }, country: { id: 'DE', name: 'Germany' } },
        clicks: 2,
        revenue: 10,
      },
      {
        id: '["k2","AT"]',
        name: 'k2 / Austria',
        dimensions: { campaign: { id: 'k2', name: null }, country: { id: 'AT', name: 'Austria' } },
        clicks: 2,
        revenue: 20,
      },
      expect.objectContaining({ id: '["(not set)","(not set)"]', clicks: 1 }),
      expect.objectContaining({ id: '["k1","(not set)"]', name: 'Spring / (not set)', clicks: 0 }),
    ])
  })

  it('takes the dimensions that conversions do not have from their click, which may arrive later', async () => {
    const expected = {
      region: [
        ['(not set)', 4, 1],
        ['Bavaria', 1, 1],
      ],
      language: [
        ['(not set)', 3, 0],
        ['de-at', 1, 1],
        ['de-de', 1, 1],
      ],
      os_version: [
        ['(not set)', 4, 1],
        ['18.1', 1, 1],
      ],
      referrer_domain: [
        ['(not set)', 4, 1],
        ['example.com', 1, 1],
      ],
      utm_term: [
        ['(not set)', 4, 1],
        ['a, b', 1, 1],
      ],
      sub1: [
        ['(not set)', 3, 1],
        ['x', 2, 1],
      ],
    }
    for (const [dimension, rows] of Object.entries(expected)) {
      expect([dimension, await buckets(`group_by=${dimension}`)]).toEqual([dimension, rows])
    }
  })
})

describe('time dimensions', () => {
  it('are local to tz; the hour that a clock repeats is two hours', async () => {
    const local = 'tz=Europe/Berlin&group_by='
    expect(await buckets(`${local}hour&sort=id`)).toEqual([
      ['2026-10-24T23:00+02:00', 1, 0],
      ['2026-10-25T02:00+01:00', 1, 0],
      ['2026-10-25T02:00+02:00', 1, 0],
      ['2026-10-25T11:00+01:00', 0, 1],
      ['2026-10-26T00:00+01:00', 1, 0],
      ['2026-10-26T11:00+01:00', 0, 1],
      ['2026-10-26T12:00+01:00', 0, 0],
      ['2026-10-26T13:00+01:00', 1, 0],
    ])
    expect(await buckets(`${local}week,country&sort=id&country=AT`)).toEqual([
      ['["2026-10-19","AT"]', 1, 0],
      ['["2026-10-26","AT"]', 1, 1],
    ])
    expect(await buckets(`${local}month`)).toEqual([['2026-10', 5, 2]])
    expect(await buckets(`${local}hour_of_day&sort=id&campaign_id=k1`)).toEqual([
      ['02', 1, 0],
      ['11', 0, 1],
      ['12', 0, 0],
      ['23', 1, 0],
    ])
  })

  it('name weekdays in English', async () => {
    const { data, tz } = await report('tz=europe/berlin&group_by=weekday&sort=id')
    expect(tz).toBe('Europe/Berlin')
    expect(data.map(({ id, name, clicks }) => [id, name, clicks])).toEqual([
      ['1', 'Monday', 2],
      ['6', 'Saturday', 1],
      ['7', 'Sunday', 2],
    ])
  })
})

describe('filters', () => {
  it('select, exclude, and name the empty value', async () => {
    expect(await buckets('group_by=country&country=AT,DE')).toEqual([
      ['AT', 2, 1],
      ['DE', 2, 1],
    ])
    expect(await buckets('group_by=country&country=!AT')).toEqual([
      ['DE', 2, 1],
      ['(not set)', 1, 0],
    ])
    expect(await buckets('group_by=country&country=!AT,(not%20set)')).toEqual([['DE', 2, 1]])
    expect(await buckets('group_by=device&country=DE&campaign_id=k1&sub1=x')).toEqual([['mobile', 1, 1]])
    expect(await buckets('group_by=utm_term&utm_term=a%5C,%20b')).toEqual([['a, b', 1, 1]])
    expect(await buckets('group_by=sub10&sub10=%5C!y')).toEqual([['!y', 1, 1]])
    expect(await buckets('group_by=country&country=FR')).toEqual([])
  })
})

describe('order and selection', () => {
  it('sorts by any metric or by id, equal rows by id, and null ratios last', async () => {
    const ids = async (sort: string) => (await buckets(`group_by=country,device&sort=${sort}`)).map(([id]) => id)
    const byEpc = await ids('-epc')
    expect(byEpc).toEqual([
      '["AT","(not set)"]',
      '["DE","mobile"]',
      '["(not set)","tablet"]',
      '["AT","mobile"]',
      '["DE","desktop"]',
      '["(not set)","(not set)"]',
    ])
    expect((await ids('epc')).at(-1)).toBe('["(not set)","(not set)"]')
    expect((await ids('profit')).slice(0, 2)).toEqual(['["AT","mobile"]', '["DE","desktop"]'])
    expect(await ids('-id')).toEqual((await ids('id')).reverse())
  })

  it('returns the selected metrics in the order of the schema', async () => {
    const { data } = await report('group_by=country&metrics=epc,clicks&limit=1&sort=-revenue')
    expect(data).toEqual([{ id: 'AT', name: 'Austria', clicks: 2, epc: 10 }])
  })
})

describe('a comparison', () => {
  it('leaves the report as it is and adds the earlier metrics', async () => {
    const query = 'group_by=day&from=2026-10-25&to=2026-10-26'
    const plain = await api.read(`/reports?${query}`, key, ReportResponse)
    const { previous, data, ...rest } = await api.read(`/reports?${query}&compare=previous_period`, key, ReportResponse)
    expect({ ...rest, data: data.map(({ previous: _previous, ...row }) => row) }).toEqual(plain)
    expect(previous).toMatchObject({
      from: '2026-10-23T00:00:00.000Z',
      to: '2026-10-25T00:00:00.000Z',
      totals: { clicks: 1, conversions: 0 },
    })
    expect(data.map(({ id, clicks, previous }) => [id, clicks, previous?.id, previous?.clicks])).toEqual([
      ['2026-10-25', 3, '2026-10-23', 0],
      ['2026-10-26', 1, '2026-10-24', 1],
    ])
  })

  it('matches other dimensions by id, with zeros where nothing matches', async () => {
    const query = 'group_by=country,day&sort=id&metrics=clicks,epc&from=2026-10-26&to=2026-10-26'
    const { data } = await api.read(`/reports?${query}&compare=previous_period`, key, ReportResponse)
    expect(data.map(({ id, previous }) => [id, previous])).toEqual([
      ['["(not set)","2026-10-26"]', { id: '["(not set)","2026-10-25"]', clicks: 0, epc: null }],
      ['["AT","2026-10-26"]', { id: '["AT","2026-10-25"]', clicks: 2, epc: 0 }],
    ])
  })
})

describe('a comparison with an empty earlier range', () => {
  it.each([
    // 28 and 29 February are both compared with 28 February; 02:45 and 02:10 are of two hours with one local time.
    'from=2024-02-28T10:00:00Z&to=2024-02-29T10:00:00Z&compare=previous_year',
    'from=2026-10-25T00:45:00Z&to=2026-10-25T01:10:00Z&compare=previous_year&tz=Europe/Berlin',
  ])('returns zeros: %s', async (range) => {
    for (const groupBy of ['country', 'campaign,day', 'city,weekday']) {
      const { previous } = await api.read(`/reports?group_by=${groupBy}&${range}`, key, ReportResponse)
      expect(previous).toMatchObject({ to: previous?.from, totals: { clicks: 0, revenue: 0, epc: null } })
    }
    const { previous } = await api.read(`/stats/overview?${range}`, key, StatsOverview)
    expect(previous).toMatchObject({ to: previous?.from, totals: { clicks: 0 } })
    const { data } = await api.read(`/stats/daily?${range}&interval=hour`, key, StatsDaily)
    expect(data.map((row) => [row.previous?.id, row.previous?.clicks])).toContainEqual([null, 0])
  })

  it('returns zeros for a range that starts now', async () => {
    const query = `group_by=day&from=${new Date(testNowMs).toISOString()}&to=2026-12-01&compare=previous_period`
    const { previous } = await api.read(`/reports?${query}`, key, ReportResponse)
    expect(previous).toMatchObject({ to: previous?.from, totals: { clicks: 0 } })
  })
})

describe('CSV', () => {
  it('has the columns of each dimension, earlier metrics and a line of totals', async () => {
    expect(await csv('group_by=campaign,country&metrics=clicks,epc&limit=1&totals=true')).toEqual([
      '"campaign_id","campaign_name","country_id","country_name","clicks","epc"',
      '"k1","Spring","DE","Germany",2,5',
      '"(total)",,,,5,6',
      '',
    ])
    const compared = 'group_by=device&metrics=clicks&compare=previous_period&totals=true&limit=1'
    expect(await csv(compared)).toEqual([
      '"id","name","clicks","previous_clicks"',
      '"mobile","mobile",2,0',
      '"(total)",,5,0',
      '',
    ])
  })
})

describe('a report by hour', () => {
  it('has at most 31 days', async () => {
    for (const query of ['group_by=hour&days=32', 'group_by=country,hour&from=2026-09-01&to=2026-10-02']) {
      const response = await api.get(`/reports?${query}`, key)
      expect([query, response.statusCode, response.json().error]).toEqual([query, 400, 'invalid_date_range'])
    }
  })
})
