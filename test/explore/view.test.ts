// @module-tag all

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeNames, notSet, timeDimensions } from '../../schema/dimensions.ts'
import { filterAttributes, namesInTree } from '../../schema/filters.ts'
import { funnelDimensions } from '../../schema/funnel.ts'
import { metricNames } from '../../schema/metrics.ts'
import { rangeNames as apiRangeNames } from '../../schema/range.ts'
import { gridAxes } from '../../src/explore/chartGrid.ts'
import { comparedText } from '../../src/explore/comparedText.ts'
import { addDays, begunAt, dateIn, datesIn, daysBetween, endOfMonth } from '../../src/explore/dates.ts'
import {
  dimensionNames,
  filterDimensions,
  filteredDimensions,
  filterNames,
  funnelDimensions as offeredFunnelDimensions,
} from '../../src/explore/dimensions.ts'
import {
  conditionText,
  filterParameters,
  formatFilter,
  metricOperators,
  parseFilter,
  valueOperators,
  valuesOf,
  withCondition,
} from '../../src/explore/filterText.ts'
import { formatChange } from '../../src/explore/format.ts'
import { columnNames, metricNames as shownMetrics } from '../../src/explore/metrics.ts'
import { comparisons, type Dates, rangeNames, ranges } from '../../src/explore/ranges.ts'
import { type Daily, drawnEarlier, drawnValues, earlierValues } from '../../src/explore/seriesValues.ts'
import {
  countTimes,
  defaultView,
  formatView,
  intervalOf,
  intervals,
  parseView,
  selectionOf,
  units,
  type View,
  windows,
} from '../../src/explore/view.ts'
import { readAllFilters, readFilters } from '../../src/query/filters.ts'
import { testNowMs } from '../kit/app.ts'

const keys = <Name extends string>(names: Record<Name, unknown>) =>
  fc.constantFrom(...(Object.keys(names) as [Name, ...Name[]]))
const dates = fc
  .tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 400 }))
  .map(([first, days]) => ({ from: addDays('1990-01-01', first), to: addDays('1990-01-01', first + days) }))
const listed = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom('is' as const, 'is_not' as const),
    fc.constantFrom(...filterNames),
    fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }),
  ),
  { selector: ([, name]) => name },
)
const others = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constantFrom(...valueOperators.slice(2)),
      fc.constantFrom('sub1', 'utm_term', 'referrer_domain'),
      fc.array(fc.string({ minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 }),
    ),
    fc.tuple(
      fc.constantFrom(...metricOperators),
      fc.constantFrom(...columnNames),
      fc.nat(999).map((cents) => cents / 100),
    ),
  ),
  { maxLength: 4 },
)
const views: fc.Arbitrary<View> = fc.record({
  range: fc.oneof(keys(ranges), dates),
  tz: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'),
  compare: fc.oneof(keys(comparisons), dates),
  filters: fc.tuple(listed, others).map((parts) => parts.flat()),
  countAt: fc.constantFrom(...countTimes),
  interval: fc.option(keys(intervals), { nil: undefined }),
  metrics: fc.uniqueArray(fc.constantFrom(...shownMetrics), { minLength: 1, maxLength: 2 }),
  share: fc.constantFrom(undefined, 'total' as const),
  csvDecimal: fc.constantFrom(undefined, 'point' as const, 'comma' as const),
  seriesBy: fc.option(fc.constantFrom(...filteredDimensions), { nil: undefined }),
  next: fc.option(fc.constantFrom(...dimensionNames), { nil: undefined }),
  groupBy: fc.uniqueArray(fc.constantFrom(...dimensionNames), { minLength: 1, maxLength: 3 }),
  columns: fc.uniqueArray(fc.constantFrom(...columnNames), { minLength: 1 }),
  minClicks: fc.nat(9_999_999),
  offset: fc.nat(9_999_999),
  sort: fc.constantFrom('id', '-id', 'clicks', '-roi', '-change.profit', 'change.visitors'),
  steps: fc.array(fc.stringMatching(/^[a-z_]{1,20}$/), { minLength: 2, maxLength: 8 }),
  by: keys(units),
  window: keys(windows),
  funnelBy: fc.option(fc.constantFrom(...funnelDimensions), { nil: undefined }),
})

describe('the view in the address', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(parseView(formatView(view))).toEqual(view)
      }),
    )
  })

  it('has the same defaults in all versions, as links leave them out', () => {
    expect(defaultView).toEqual({
      range: '30d',
      tz: 'UTC',
      compare: 'previous_period',
      countAt: 'conversion',
      filters: [],
      metrics: ['clicks', 'revenue'],
      groupBy: ['campaign'],
      sort: '-clicks',
      columns: ['clicks', 'conversions', 'revenue', 'cost', 'profit', 'roi', 'cr', 'epc'],
      minClicks: 0,
      offset: 0,
      steps: ['click', 'conversion'],
      by: 'visitor',
      window: '7d',
    })
  })

  it('is the default view for any text that is not a view', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseView(`?range=${encodeURIComponent(text)}x`)).toEqual(defaultView)
      }),
    )
    const wrong = '?range=1y&tz=Mars/Olympus&compare=x&metrics=x&group_by=x&sort=-secret&steps=one&from=2026-13-01&to=x'
    expect(parseView(wrong)).toEqual(defaultView)
    expect(parseView('?from=2026-02-01&to=2026-01-01')).toEqual(defaultView)
  })

  it('requests calendar ranges of the API by their names, in the zone', () => {
    const evening = { ...defaultView, range: 'yesterday', tz: 'Pacific/Kiritimati' } as const
    expect(selectionOf(evening)).toEqual({ range: 'yesterday', tz: 'Pacific/Kiritimati' })
    expect(selectionOf({ ...evening, range: '7d' })).toEqual({ days: 7, tz: 'Pacific/Kiritimati' })
    const dates = { from: '2026-11-01', to: '2026-11-10' }
    expect(selectionOf({ ...defaultView, range: dates })).toEqual({ ...dates, tz: 'UTC' })
    expect(rangeNames.filter((name) => !/^\d/.test(name)).toSorted()).toEqual(apiRangeNames.toSorted())
  })

  it('never requests hours of more days than the API returns', () => {
    const hours = { ...defaultView, interval: 'hour' } as const
    expect(intervalOf({ ...hours, range: '30d' })).toBe('hour')
    expect(intervalOf({ ...hours, range: '90d' })).toBe('day')
    expect(intervalOf({ ...defaultView, range: 'today' })).toBe('hour')
  })
})

describe('a filter of the page', () => {
  it('selects exactly its values in the API', () => {
    const values = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 30, unit: 'binary' }), {
      minLength: 1,
      maxLength: 5,
    })
    fc.assert(
      fc.property(values, fc.boolean(), (values, isExcluded) => {
        const text = formatFilter({ values, isExcluded })
        expect(parseFilter(text)).toEqual({ values, isExcluded })
        const [filter] = readFilters({ sub1: text })
        const stored = values.map((value) => (value === notSet ? '' : value))
        expect(new Set(filter?.values.filter((value) => value !== notSet))).toEqual(new Set(stored))
        expect(filter?.isExcluded).toBe(isExcluded)
      }),
    )
  })

  it('means what is checked and typed: a name, a part of one name, or any text', () => {
    const listed = [
      { id: 'US', name: 'United States' },
      { id: 'GB', name: 'United Kingdom' },
      { id: 'DE', name: 'Germany' },
    ]
    const read = (text: string, values: string[] = [], isNamed = true) =>
      valuesOf({ text, listed, values, isNamed }).join()
    expect(['germany', 'Germ', ' de ', 'fr', notSet].map((text) => read(text)).join()).toBe(`DE,DE,DE,fr,${notSet}`)
    expect([read('germ', ['US']), read('united', ['US']), read('', ['US'])]).toEqual(['US,DE', 'US', 'US'])
    expect(read('Germ', [], false)).toBe('Germ')
  })

  it('with conditions is one that the API reads: lists without conditions on metrics, reports with them', () => {
    fc.assert(
      fc.property(others, (filters) => {
        const all = filterParameters([...filters, ['is', 'sub1', ['a']], ['is_not', 'sub1', ['b']]])
        expect(() => readAllFilters(all as object, namesInTree.facts, { view: null }, true)).not.toThrow()
        const { sub1, filters: ofRows } = selectionOf({ ...defaultView, filters })
        expect(sub1).toBeUndefined()
        expect(() => readAllFilters(ofRows ? { filters: ofRows } : {}, namesInTree.facts, { view: null })).not.toThrow()
      }),
    )
    expect(conditionText(['contains_not', 'referrer_domain', ['google']])).toBe('Referrer contains not google')
    expect(conditionText(['>=', 'cost', 50])).toBe('Rows with Cost >= 50')
    expect(parseView('?filters=[["or",[]]]').filters).toEqual([['or', []]])
    for (const text of ['x', '{}', '[1]', '[null]']) expect(parseView(`?filters=${text}`)).toEqual(defaultView)
    const added = withCondition(
      [
        ['is', 'country', ['US']],
        ['contains', 'sub1', ['x']],
      ],
      ['is_not', 'country', ['DE']],
    )
    expect(added).toEqual([
      ['contains', 'sub1', ['x']],
      ['is_not', 'country', ['DE']],
    ])
  })
})

it('a change is in percent, a multiple, in points, or both values across zero', () => {
  const change = (now: number, before: number, kind: 'amount' | 'percent' = 'amount') =>
    formatChange(now, before, kind, 'USD')
  const changes = [change(110, 100), change(-50, -100), change(1_100, 100), change(-186, -10)]
  expect(changes.join()).toBe('+10.0%,+50.0%,× 11,× 19')
  expect([change(-417, 1_175), change(5, -3, 'percent')]).toEqual(['from $1,175.00 to -$417.00', '+8.0 pp'])
})

it('the selections of the page are the dimensions, filters and metrics of the API', () => {
  expect(shownMetrics.toSorted()).toEqual(metricNames.toSorted())
  expect(columnNames.toSorted()).toEqual([...metricNames, 'visitors'].toSorted())
  expect(filterDimensions).toEqual(filterAttributes)
  expect(offeredFunnelDimensions).toEqual(funnelDimensions)
  // Hours have no filter and no date; the page does not count events, which alone have an origin.
  const offered = [...attributeNames, ...timeDimensions].filter((name) => name !== 'hour' && name !== 'event_origin')
  expect(dimensionNames.toSorted()).toEqual(offered.toSorted())
})

it('the dates of the page are dates of the calendar', () => {
  expect(dateIn('Asia/Kathmandu', Date.UTC(2026, 10, 21, 18, 15))).toBe('2026-11-22')
  expect([addDays('2024-02-28', 1), addDays('2026-01-01', -1)]).toEqual(['2024-02-29', '2025-12-31'])
  expect([endOfMonth('2024-02-01'), endOfMonth('2026-12-31')]).toEqual(['2024-02-29', '2026-12-31'])
  expect(daysBetween('2026-03-01', '2026-03-31')).toBe(31)
  const kathmandu = { from: '2026-11-20T18:15:00.000Z', to: '2026-11-22T18:15:00.000Z' }
  expect(datesIn('Asia/Kathmandu', kathmandu)).toEqual({ from: '2026-11-21', to: '2026-11-22' })
})

describe('a comparison', () => {
  const days = (from: string, to: string) => ({ from: `${from}T00:00:00.000Z`, to: `${to}T00:00:00.000Z` })
  const asOf = '2026-11-21T15:00:00.000Z'
  const text = (range: Dates, previous: Dates, firstDate = '') =>
    comparedText({ ...range, previous, tz: 'UTC', asOf }, firstDate)

  it('says which times the two ranges do not have in common', () => {
    const [week, present] = [days('2026-11-09', '2026-11-16'), days('2026-11-15', '2026-11-22')]
    expect(text(week, days('2026-10-12', '2026-10-19'))).toBe('')
    expect(text(week, days('2026-10-12', '2026-10-22'))).toBe('7 days are compared with 10 days.')
    expect(text(present, days('2026-10-12', '2026-10-19'))).toBe(
      'The range is not over, and is compared with whole days.',
    )
    const cut = { ...days('2026-11-08', '2026-11-15'), to: '2026-11-14T15:00:00.000Z' }
    expect(text(present, cut)).toMatch(/^Compared up to the same time of day, 11\/14\/26, 3:00.PM\.$/)
    expect(text(week, days('2026-10-12', '2026-10-19'), '2026-10-15')).toBe('No data before Oct 15, 2026.')
    const costsTo = (costs: string | null) => comparedText({ ...week, tz: 'UTC', asOf, dataThrough: { costs } }, '')
    expect([null, '2026-11-15T01:00:00.000Z', '2026-11-14T23:00:00.000Z'].map(costsTo)).toEqual([
      '',
      '',
      'Costs of networks end on Nov 14, 2026: later profit, ROI and CPA are not complete.',
    ])
  })
})

describe('the chart', () => {
  it('has no values of units that have not begun', () => {
    const units = ['2026-11-21', '2026-11-22', '2026-11-21T20:00+05:30', '2026-11-21T21:00+05:30']
    expect(units.map(begunAt('UTC', testNowMs))).toEqual([true, false, true, false])
  })

  it('ends where the rows end, begins with the first row, and never falls to zero in a unit that is not over', () => {
    const day = (id: string, clicks: number, before = 0) => ({
      id,
      clicks,
      complete: id < '2026-11-21',
      previous: { id: addDays(id, -7), clicks: before },
    })
    const seriesTo = (clicks: string, days: object[]) =>
      ({
        data: days,
        tz: 'UTC',
        asOf: '2026-11-21T09:00:00.000Z',
        dataThrough: { clicks, conversions: null, costs: null },
        previous: { from: '2026-11-10T00:00:00.000Z', to: '2026-11-14T09:00:00.000Z' },
      }) as unknown as Daily
    const days = [day('2026-11-18', 0), day('2026-11-19', 4, 2), day('2026-11-20', 0, 3), day('2026-11-21', 0, 1)]
    const early = seriesTo('2026-11-20T23:00:00.000Z', days)
    const nothing = [null, null, null, null]
    expect(drawnValues(early, 'clicks', '2026-11-19')).toEqual({ whole: [null, 4, null, null], open: nothing })
    expect(drawnValues(early, 'clicks').whole).toEqual([0, 4, null, null])
    const late = seriesTo('2026-11-21T08:00:00.000Z', days)
    expect(drawnValues(late, 'clicks')).toEqual({ whole: [0, 4, 0, null], open: nothing })
    const longer = [...days.slice(0, 3), day('2026-11-21', 1), day('2026-11-22', 0)]
    const begun = seriesTo('2026-11-21T08:00:00.000Z', longer)
    expect(drawnValues(begun, 'clicks').open).toEqual([null, null, 0, 1, null])
    const profits = days.slice(0, 3).map((row) => ({ ...row, profit: 5 }))
    const dataThrough = { clicks: '2026-11-21T08:00:00.000Z', conversions: null, costs: '2026-11-18T12:00:00.000Z' }
    const range = { from: '2026-11-18T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }
    const lacking = { ...begun, ...range, data: profits, dataThrough }
    expect(drawnValues(lacking as unknown as Daily, 'profit')).toEqual({ whole: [5, null, null], open: [5, 5, 5] })
    expect(earlierValues(begun, 'clicks')).toEqual([0, 2, 3, 0, null])
    expect(earlierValues(begun, 'clicks', '2026-11-12')).toEqual([null, 2, 3, 0, null])
  })

  it('dashes the last unit of an earlier range that ends within a day, and no unit of one that ends with a day', () => {
    const days = [18, 19, 20, 21].map((day, at) => ({
      id: `2026-11-${day}`,
      clicks: 9,
      cr: null,
      complete: day < 21,
      previous: { id: `2026-11-${day - 7}`, clicks: at + 1, cr: null },
    }))
    const comparedTo = (to: string, data: object[] = days) =>
      ({ data, tz: 'Asia/Kolkata', previous: { from: '2026-11-10T18:30:00.000Z', to } }) as unknown as Daily
    const cut = drawnEarlier(comparedTo('2026-11-14T09:00:00.000Z'), 'clicks')
    expect(cut).toEqual({ whole: [1, 2, 3, null], open: [null, null, 3, 4] })
    const none = [null, null, null, null]
    expect(drawnEarlier(comparedTo('2026-11-14T18:30:00.000Z'), 'clicks')).toEqual({ whole: [1, 2, 3, 4], open: none })
    // The range ends before the last unit begins.
    expect(drawnEarlier(comparedTo('2026-11-13T09:00:00.000Z'), 'clicks')).toEqual({
      whole: [1, 2, null, null],
      open: [null, 2, 3, null],
    })
    const begun = days.map((day, at) => (at < 3 ? day : { ...day, previous: { ...day.previous, clicks: 0 } }))
    expect(drawnEarlier(comparedTo('2026-11-14T09:00:00.000Z', begun), 'clicks')).toEqual({
      whole: [1, 2, 3, null],
      open: none,
    })
  })

  it('has axes with the same zero and the same grid, which contain all values', () => {
    const values = fc.record({
      // Amounts have six decimals.
      min: fc.integer({ min: -1e15, max: 0 }).map((millionths) => millionths / 1e6),
      max: fc.integer({ min: 0, max: 1e15 }).map((millionths) => millionths / 1e6),
      stepMin: fc.constantFrom(0, 1),
    })
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 2 }), (wanted) => {
        const axes = gridAxes(wanted)
        expect(
          new Set(axes.map(({ low, high, step }) => `${Math.round(low / step)} ${Math.round(high / step)}`)).size,
        ).toBe(1)
        for (const [index, { low, high, step }] of axes.entries()) {
          const { min, max, stepMin } = wanted[index] ?? { min: 0, max: 0, stepMin: 0 }
          expect(low).toBeLessThanOrEqual(min)
          expect(high).toBeGreaterThanOrEqual(max * (1 - 1e-12))
          expect(step).toBeGreaterThanOrEqual(stepMin)
          expect((high - low) / step).toBeLessThan(15)
        }
      }),
    )
  })
})
