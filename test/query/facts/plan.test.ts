import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Dimension, dimensions } from '../../../schema/dimensions.ts'
import { planFacts } from '../../../src/query/facts/plan.ts'
import { factsSettings } from '../../../src/query/facts/sql.ts'
import { type FilterQuery, readFilters } from '../../../src/query/filters.ts'
import { longRead } from '../../../src/stores/clickhouse/select.ts'

const wholeDays = { fromMs: Date.UTC(2026, 10, 1), untilMs: Date.UTC(2026, 10, 21) }

/** The tables of a query, `table(dimension of the sums)`. */
function tablesOf(groupBy: string, { range = wholeDays, zone = 'UTC', ...filters }: FilterQuery & Options = {}) {
  const { parts } = planFacts({
    accountId: 'acme',
    range,
    zone,
    dimensions: groupBy === '' ? [] : (groupBy.split(',') as Dimension[]),
    filters: readFilters(filters),
  })
  return parts.map((part) => ('summed' in part ? `${part.table}(${part.summed})` : part.table))
}

interface Options {
  range?: { fromMs: number; untilMs: number }
  zone?: string
}

it.each([
  // One attribute, with or without UTC days, weeks, months or weekdays.
  ['', {}, 'sums_by_day(device)'],
  ['day', {}, 'sums_by_day(device)'],
  ['week,weekday', {}, 'sums_by_day(device)'],
  ['country', {}, 'sums_by_day(country)'],
  ['country,day', {}, 'sums_by_day(country)'],
  ['month,os', {}, 'sums_by_day(os)'],
  ['country', { country: '!US' }, 'sums_by_day(country)'],
  ['day', { country: 'US,DE' }, 'sums_by_day(country)'],
  ['campaign', {}, 'sums_by_day(campaign)'],
  ['campaign,weekday', { campaign_id: 'k1' }, 'sums_by_day(campaign)'],
  ['day', { campaign_id: 'k1' }, 'sums_by_day(campaign)'],
  ['country', { zone: 'Asia/Kolkata' }, 'sums_by_day(country)'],
  ['country,day', { zone: 'Africa/Abidjan' }, 'sums_by_day(country)'],
  // A campaign and another attribute.
  ['campaign,country', {}, 'sums_by_day_and_campaign(country)'],
  ['campaign,country,day', {}, 'sums_by_day_and_campaign(country)'],
  ['country', { campaign_id: 'k1' }, 'sums_by_day_and_campaign(country)'],
  ['campaign', { device: 'mobile' }, 'sums_by_day_and_campaign(device)'],
  ['day', { campaign_id: 'k1', offer_id: 'o1' }, 'sums_by_day_and_campaign(offer)'],
  // Campaigns and hours, or days of another zone.
  ['hour', {}, 'sums_by_quarter_hour'],
  ['weekday,hour_of_day', {}, 'sums_by_quarter_hour'],
  ['campaign,hour', { campaign_id: '!k1' }, 'sums_by_quarter_hour'],
  ['day', { zone: 'Asia/Kathmandu' }, 'sums_by_quarter_hour'],
  ['campaign,week', { zone: 'America/New_York' }, 'sums_by_quarter_hour'],
  // Everything else.
  ['country,device', {}, 'rows'],
  ['country', { device: 'mobile' }, 'rows'],
  ['campaign,country,device', {}, 'rows'],
  ['country,hour', {}, 'rows'],
  ['country,day', { zone: 'Asia/Kolkata' }, 'rows'],
  ['city', {}, 'rows'],
  ['campaign', { sub1: 'a' }, 'rows'],
  ['day', { utm_source: '(not set)' }, 'rows'],
] as const)('whole UTC days grouped by %j with %j are read from %s', (groupBy, options, table) => {
  expect(tablesOf(groupBy, options)).toEqual([table])
})

describe('a range with partial days', () => {
  const range = { fromMs: Date.UTC(2026, 10, 1, 6, 20), untilMs: Date.UTC(2026, 10, 3, 9, 30) }

  it('reads its ends from quarters of an hour if there are no other attributes than the campaign', () => {
    expect(tablesOf('campaign', { range })).toEqual([
      'sums_by_day(campaign)',
      'sums_by_quarter_hour',
      'rows',
      'sums_by_quarter_hour',
    ])
  })

  it('reads its ends from rows otherwise', () => {
    expect(tablesOf('country', { range })).toEqual(['sums_by_day(country)', 'rows', 'rows'])
  })

  it('reads no table of longer periods than it has', () => {
    const hour = { fromMs: Date.UTC(2026, 10, 1, 6), untilMs: Date.UTC(2026, 10, 1, 7) }
    expect(tablesOf('campaign', { range: hour })).toEqual(['sums_by_quarter_hour'])
    expect(tablesOf('country', { range: hour })).toEqual(['rows'])
  })
})

it('the parts of a plan cover the range exactly once, also an empty one, each with whole periods of its table', () => {
  const moment = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 9) })
  const end = fc.option(moment)
  const groups = fc.subarray([...dimensions], { maxLength: 3 })
  fc.assert(
    fc.property(moment, end, groups, fc.constantFrom('UTC', 'Asia/Kathmandu'), (a, end, grouped, zone) => {
      const b = end ?? a
      const range = { fromMs: Math.min(a, b), untilMs: Math.max(a, b) }
      const { parts } = planFacts({ accountId: 'acme', range, zone, dimensions: grouped, filters: [] })
      const ordered = [...parts].sort((x, y) => x.range.fromMs - y.range.fromMs)
      expect(ordered.map((part) => part.range.fromMs)).toEqual([
        range.fromMs,
        ...ordered.slice(0, -1).map((part) => part.range.untilMs),
      ])
      expect(ordered.at(-1)?.range.untilMs).toBe(range.untilMs)
      for (const { table, range: covered } of parts) {
        const periodMs = table === 'rows' ? 1 : table === 'sums_by_quarter_hour' ? 900_000 : 86_400_000
        expect([covered.fromMs % periodMs, covered.untilMs % periodMs]).toEqual([0, 0])
      }
    }),
  )
})

describe('a report has a lower CPU priority than other queries', () => {
  const dayMs = 86_400_000
  const untilMs = Date.UTC(2026, 10, 21)
  const isLong = (dimensions: Dimension[], range: { fromMs: number; untilMs: number }, countsAtClick = false) => {
    const query = { accountId: 'acme', range, zone: 'UTC', dimensions, filters: [], countsAtClick }
    const settings = factsSettings(planFacts(query))
    return Object.entries(longRead).every(([name, value]) => settings[name] === value)
  }

  it('if it reads more than two days of rows', () => {
    expect(isLong(['sub1', 'city'], { fromMs: untilMs - 3 * dayMs, untilMs })).toBe(true)
    expect(isLong(['sub1', 'city'], { fromMs: untilMs - 2 * dayMs, untilMs })).toBe(false)
  })

  it('if conversions count at their click: these conversions can be of any time', () => {
    expect(isLong(['country'], { fromMs: untilMs - dayMs, untilMs }, true)).toBe(true)
  })

  it('never if it reads sums, also of a range that ends within a day', () => {
    expect(isLong(['country'], { fromMs: untilMs - 365 * dayMs, untilMs })).toBe(false)
    expect(isLong(['country'], { fromMs: untilMs - 365 * dayMs + 1, untilMs: untilMs - 1 })).toBe(false)
  })
})
