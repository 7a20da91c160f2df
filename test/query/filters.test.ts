import { describe, expect, it } from 'vitest'
import { filterNames } from '../../schema/filters.ts'
import { type FilterQuery, readFilters } from '../../src/query/filters.ts'

const only = (query: FilterQuery) => readFilters(query)[0]

describe('a filter', () => {
  it.each([
    ['DE', ['DE'], false],
    ['DE,AT', ['DE', 'AT'], false],
    ['!DE,AT', ['DE', 'AT'], true],
    ['DE,DE', ['DE'], false],
    ['(not set)', ['', '(not set)'], false],
    ['!US,(not set)', ['US', '', '(not set)'], true],
  ])('by country reads %s', (country, values, isExcluded) => {
    expect(only({ country })).toEqual({ attribute: 'country', values, isExcluded })
  })

  it.each([
    ['a\\,b', ['a,b'], false],
    ['a\\\\,b', ['a\\', 'b'], false],
    ['\\!a', ['!a'], false],
    ['!!a', ['!a'], true],
    ['a!b,!c', ['a!b', '!c'], false],
    [' a , b ', [' a ', ' b '], false],
    ['Ünïcode 🎈', ['Ünïcode 🎈'], false],
    ['%', ['%'], false],
  ])('by a text reads %j', (sub1, values, isExcluded) => {
    expect(only({ sub1 })).toEqual({ attribute: 'sub1', values, isExcluded })
  })

  it.each(['', ',', 'a,', ',a', 'a,,b', '!', '!,', '\\', 'a\\', '\\n', 'a\\!b', 'a,\\!b', '!\\!a'])(
    'rejects %j',
    (city) => {
      expect(() => readFilters({ city })).toThrow(expect.objectContaining({ code: 'invalid_city' }))
    },
  )

  it('has at most 100 values', () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`).join(',')
    expect(only({ os: list(100) })?.values).toHaveLength(100)
    expect(() => readFilters({ os: list(101) })).toThrow(expect.objectContaining({ code: 'invalid_os' }))
  })

  it.each([
    ['country', 'us'],
    ['country', 'USA'],
    ['device', 'Mobile'],
    ['campaign_id', 'a b'],
    ['offer_id', 'x'.repeat(65)],
    ['landing_page_id', "' OR 1=1"],
    ['traffic_source_id', 'é'],
  ])('by %s rejects %j, which no row can have', (name, value) => {
    expect(() => readFilters({ [name]: value })).toThrow(expect.objectContaining({ code: `invalid_${name}` }))
  })
})

describe('the filters of a query', () => {
  it('are all of its filter parameters and nothing else', () => {
    const query = Object.fromEntries(filterNames.map((name) => [name, name === 'country' ? 'US' : 'tablet']))
    expect(readFilters({ ...query, days: 3 } as FilterQuery)).toHaveLength(27)
    expect(readFilters({})).toEqual([])
  })
})
