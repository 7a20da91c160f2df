// @module-tag all

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeNames, notSet, timeDimensions } from '../../schema/dimensions.ts'
import { filterAttributes } from '../../schema/filters.ts'
import { funnelDimensions } from '../../schema/funnel.ts'
import { metricNames, reportMetricNames } from '../../schema/metrics.ts'
import { rangeNames as apiRangeNames } from '../../schema/range.ts'
import { gridAxes } from '../../src/explore/chartGrid.ts'
import { comparedText } from '../../src/explore/comparedText.ts'
import { addDays, begunAt, dateIn, datesIn, daysBetween, endOfMonth } from '../../src/explore/dates.ts'
import {
  dimensionNames,
  dimensions,
  type FilterName,
  filterDimensions,
  filteredDimensions,
  filterNames,
  funnelDimensions as offeredFunnelDimensions,
  type ValueForm,
} from '../../src/explore/dimensions.ts'
import { formatFilter, parseFilter, readForm } from '../../src/explore/filterText.ts'
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
import { readFilters } from '../../src/query/filters.ts'
import { testNowMs } from '../kit/app.ts'

const keys = <Name extends string>(names: Record<Name, unknown>) =>
  fc.constantFrom(...(Object.keys(names) as [Name, ...Name[]]))
const dates = fc
  .tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 400 }))
  .map(([first, days]) => ({ from: addDays('1990-01-01', first), to: addDays('1990-01-01', first + days) }))
const filters = fc.dictionary(fc.constantFrom(...filterNames), fc.string({ minLength: 1 }), { noNullPrototype: true })
const views: fc.Arbitrary<View> = fc.record({
  range: fc.oneof(keys(ranges), dates),
  tz: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'),
  compare: fc.oneof(keys(comparisons), dates),
  filters,
  countAt: fc.constantFrom(...countTimes),
  interval: fc.option(keys(intervals), { nil: undefined }),
  metrics: fc.uniqueArray(fc.constantFrom(...shownMetrics), { minLength: 1, maxLength: 2 }),
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
      filters: {},
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

  it('is one that the API reads, or says why it is none, whatever is typed and checked', () => {
    const any = fc.string({ minLength: 1, maxLength: 60, unit: 'binary' })
    fc.assert(
      fc.property(
        fc.constantFrom(...filteredDimensions),
        fc.oneof(fc.constantFrom('', ' ', notSet, 'us', 'Mobile', 'c-1', 'a,b', '!x', '\\', 'ünlü'), any),
        fc.uniqueArray(any, { maxLength: 9 }),
        fc.nat(9),
        fc.boolean(),
        (dimension, text, ids, count, isExcluded) => {
          const { filter: name, form }: { filter: FilterName; form?: ValueForm } = dimensions[dimension]
          const listed = ids.filter((id) => form?.pattern.test(id) ?? true).map((id) => ({ id, name: null }))
          const chosen = listed.slice(0, count).map(({ id }) => id)
          const { filter, problem } = readForm({ text, listed, values: chosen, isExcluded, form })
          if (filter === undefined) expect(problem).toMatch(/\.$/)
          else expect(readFilters({ [name]: filter })).toHaveLength(1)
        },
      ),
    )
  })

  it('has the value that a typed text means, or says that the text means none', () => {
    const listed = [
      { id: 'US', name: 'United States' },
      { id: 'GB', name: 'United Kingdom' },
      { id: 'DE', name: 'Germany' },
    ]
    const read = (text: string, values: string[] = [], form: ValueForm | undefined = dimensions.country.form) =>
      Object.values(readForm({ text, listed, values, isExcluded: false, form })).join()
    expect(['germany', 'Germ', ' de ', 'fr', notSet].map((text) => read(text))).toEqual([
      'DE',
      'DE',
      'DE',
      'fr',
      notSet,
    ])
    expect(read('united')).toContain('Several values')
    expect(read('atlantis')).toContain('not a code such as US')
    expect(read(' ')).toContain('Type a value')
    expect([read('germ', ['US']), read('united', ['US']), read('', ['US'])]).toEqual(['US,DE', 'US', 'US'])
    expect(read('atlantis', ['US'])).toContain('not a code such as US')
    // Other dimensions have any texts, also ones that a value of the list begins with.
    expect(readForm({ text: 'Germ', listed, values: [], isExcluded: true, form: undefined })).toEqual({
      filter: '!Germ',
    })
  })

  it('takes each value that the API takes', () => {
    const formed = filteredDimensions.filter((name) => 'form' in dimensions[name])
    const values = [...'us DE Tablet other cmp_1.a:B-2 USA é desk'.split(' '), 'a b', 'x'.repeat(64), 'x'.repeat(65)]
    for (const dimension of formed) {
      const { filter: name, form }: { filter: FilterName; form?: ValueForm } = dimensions[dimension]
      for (const value of values) {
        const isRead = () => readFilters({ [name]: value })
        if (form?.pattern.test(value)) expect(isRead, `${name} ${value}`).not.toThrow()
        else expect(isRead, `${name} ${value}`).toThrow()
      }
    }
    for (const dimension of filteredDimensions)
      if (!formed.includes(dimension))
        expect(() => readFilters({ [dimensions[dimension].filter]: 'a b' })).not.toThrow()
  })
})

it('the selections of the page are the dimensions, filters and metrics of the API', () => {
  expect(shownMetrics.toSorted()).toEqual(metricNames.toSorted())
  expect(columnNames.toSorted()).toEqual(reportMetricNames.toSorted())
  expect(filterDimensions).toEqual(filterAttributes)
  expect(offeredFunnelDimensions).toEqual(funnelDimensions)
  // Hours have no filter and no date.
  const offered = [...attributeNames, ...timeDimensions].filter((name) => name !== 'hour')
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
    const begun = seriesTo('2026-11-21T08:00:00.000Z', [
      ...days.slice(0, 3),
      day('2026-11-21', 1),
      day('2026-11-22', 0),
    ])
    expect(drawnValues(begun, 'clicks').open).toEqual([null, null, 0, 1, null])
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
