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
  ['month,os', {}, 'sums_by_day(os)'],
  ['country', { country: '!US' }, 'sums_by_day(country)'],
  ['day', { country: 'US,DE' }, 'sums_by_day(country)'],
  ['campaign,weekday', { campaign_id: 'k1' }, 'sums_by_day(campaign)'],
  ['country', { zone: 'Asia/Kolkata' }, 'sums_by_day(country)'],
  ['country,day', { zone: 'Africa/Abidjan' }, 'sums_by_day(country)'],
  ['affiliate_network,offer,day', { affiliate_network: 'a' }, 'sums_by_day(offer)'],
  // A campaign and another attribute.
  ['campaign,country,day', {}, 'sums_by_day_and_campaign(country)'],
  ['country', { campaign_id: 'k1' }, 'sums_by_day_and_campaign(country)'],
  ['campaign', { device: 'mobile' }, 'sums_by_day_and_campaign(device)'],
  ['day', { campaign_id: 'k1', offer_id: 'o1' }, 'sums_by_day_and_campaign(offer)'],
  ['campaign,traffic_source_category', {}, 'sums_by_day_and_campaign(traffic_source)'],
  // Campaigns and hours, or days of another zone.
  ['hour', {}, 'sums_by_quarter_hour'],
  ['weekday,hour_of_day', {}, 'sums_by_quarter_hour'],
  ['campaign,hour', { campaign_id: '!k1' }, 'sums_by_quarter_hour'],
  ['day', { zone: 'Asia/Kathmandu' }, 'sums_by_quarter_hour'],
  ['campaign,week', { zone: 'America/New_York' }, 'sums_by_quarter_hour'],
  // Everything else.
  ['country,device', {}, 'rows'],
  ['country', { device: 'mobile' }, 'rows'],
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

  const hour = { fromMs: Date.UTC(2026, 10, 1, 6), untilMs: Date.UTC(2026, 10, 1, 7) }

  it.each([
    ['campaign', range, 'sums_by_day(campaign),sums_by_quarter_hour,rows,sums_by_quarter_hour'],
    ['country', range, 'sums_by_day(country),rows,rows'],
    ['campaign', hour, 'sums_by_quarter_hour'],
    ['country', hour, 'rows'],
  ])('reads its ends by %s from quarters of an hour only without other attributes: %j', (groupBy, of, tables) => {
    expect(tablesOf(groupBy, { range: of }).join()).toBe(tables)
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

const dayMs = 86_400_000
const untilMs = Date.UTC(2026, 10, 21)

it.each([
  ['rows of more than two days', true, { dimensions: ['sub1', 'city'], fromMs: untilMs - 3 * dayMs }],
  ['rows of two days', false, { dimensions: ['sub1', 'city'], fromMs: untilMs - 2 * dayMs }],
  ['conversions at their click, of any time', true, { fromMs: untilMs - dayMs, countsAtClick: true }],
  ['sums', false, { fromMs: untilMs - 365 * dayMs }],
  ['sums that end within a day', false, { fromMs: untilMs - 365 * dayMs + 1, untilMs: untilMs - 1 }],
] as const)('a report that reads %s has a lower CPU priority than other queries: %s', (_, isLong, given) => {
  const { fromMs, dimensions: grouped = ['country'], ...more } = { dimensions: undefined, ...given }
  const query = { accountId: 'acme', zone: 'UTC', filters: [], range: { untilMs, ...more, fromMs } }
  const settings = factsSettings(planFacts({ ...query, ...more, dimensions: [...grouped] }))
  expect(Object.entries(longRead).every(([name, value]) => settings[name] === value)).toBe(isLong)
})
