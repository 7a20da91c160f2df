import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeNames, notSet, timeDimensions } from '../../schema/dimensions.ts'
import { filterAttributes } from '../../schema/filters.ts'
import { metricNames } from '../../schema/metrics.ts'
import { addDays, dateIn, daysBetween, endOfMonth } from '../../src/explore/dates.ts'
import { dimensionNames, filterDimensions, filterNames } from '../../src/explore/dimensions.ts'
import { formatFilter, parseFilter } from '../../src/explore/filterText.ts'
import { metricNames as shownMetrics } from '../../src/explore/metrics.ts'
import {
  comparisons,
  defaultView,
  formatView,
  intervalOf,
  intervals,
  parseView,
  ranges,
  selectionOf,
  units,
  type View,
  viewDates,
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
  compare: keys(comparisons),
  filters,
  interval: fc.option(keys(intervals), { nil: undefined }),
  metrics: fc.tuple(fc.constantFrom(...shownMetrics), fc.constantFrom(...shownMetrics)),
  groupBy: fc.uniqueArray(fc.constantFrom(...dimensionNames), { minLength: 1, maxLength: 3 }),
  sort: fc.constantFrom('id', '-id', 'clicks', '-roi'),
  steps: fc.array(fc.stringMatching(/^[a-z_]{1,20}$/), { minLength: 2, maxLength: 8 }),
  by: keys(units),
  window: keys(windows),
})

describe('the view in the address', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(parseView(formatView(view))).toEqual(view)
      }),
    )
  })

  it('has only what differs from the default view', () => {
    expect(formatView(defaultView)).toBe('')
    expect(formatView({ ...defaultView, range: 'today' })).toBe('?range=today')
  })

  it('is the default view for any text that is not a view', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseView(`?range=${encodeURIComponent(text)}x`)).toEqual(defaultView)
      }),
    )
    const wrong =
      '?range=1y&tz=Mars/Olympus&compare=x&metrics=clicks&group_by=x&sort=-secret&steps=one&from=2026-13-01&to=x'
    expect(parseView(wrong)).toEqual(defaultView)
  })

  it('requests the days of the zone', () => {
    const evening = { ...defaultView, range: 'yesterday', tz: 'Pacific/Kiritimati' } as const
    expect(selectionOf(evening, testNowMs)).toEqual({ from: '2026-11-21', to: '2026-11-21', tz: 'Pacific/Kiritimati' })
    expect(selectionOf({ ...evening, range: '7d' }, testNowMs)).toEqual({ days: 7, tz: 'Pacific/Kiritimati' })
    expect(viewDates({ ...defaultView, range: '7d' }, testNowMs)).toEqual({ from: '2026-11-15', to: '2026-11-21' })
  })

  it('never requests hours of more days than the API returns', () => {
    const hours = { ...defaultView, interval: 'hour' } as const
    expect(intervalOf({ ...hours, range: '30d' }, testNowMs)).toBe('hour')
    expect(intervalOf({ ...hours, range: '90d' }, testNowMs)).toBe('day')
    expect(intervalOf({ ...defaultView, range: 'today' }, testNowMs)).toBe('hour')
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
})

describe('the selections of the page', () => {
  it('are the dimensions, filters and metrics of the API', () => {
    expect(shownMetrics.toSorted()).toEqual(metricNames.toSorted())
    expect(filterDimensions).toEqual(filterAttributes)
    // Hours have no filter and no date.
    const offered = [...attributeNames, ...timeDimensions].filter((name) => name !== 'hour')
    expect(dimensionNames.toSorted()).toEqual(offered.toSorted())
  })
})

describe('dates of the page', () => {
  it('are those of the calendar', () => {
    expect(dateIn('Asia/Kathmandu', Date.UTC(2026, 10, 21, 18, 15))).toBe('2026-11-22')
    expect([addDays('2024-02-28', 1), addDays('2026-01-01', -1)]).toEqual(['2024-02-29', '2025-12-31'])
    expect([endOfMonth('2024-02-01'), endOfMonth('2026-12-31')]).toEqual(['2024-02-29', '2026-12-31'])
    expect(daysBetween('2026-03-01', '2026-03-31')).toBe(31)
  })
})
