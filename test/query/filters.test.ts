import { describe, expect, it } from 'vitest'
import { filterNames } from '../../schema/filters.ts'
import { type FilterQuery, readFilters } from '../../src/query/filters.ts'

const only = (query: FilterQuery) => readFilters(query)[0]

describe('a filter', () => {
  it.each([
    ['DE', ['DE'], false],
    ['DE,AT', ['DE', 'AT'], false],
    ['!DE,AT', ['DE', 'AT'], true],
    ['DE,de', ['DE'], false],
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

  // Values that are refused: test/properties/errors.test.ts.
  it('has up to 100 values', () => {
    const list = Array.from({ length: 100 }, (_, index) => `v${index}`).join(',')
    expect(only({ os: list })?.values).toHaveLength(100)
  })
})

it('the filters of a query are all of its filter parameters and nothing else', () => {
  const query = Object.fromEntries(filterNames.map((name) => [name, name === 'country' ? 'US' : 'tablet']))
  expect(readFilters({ ...query, days: 3 } as FilterQuery)).toHaveLength(27)
  expect(readFilters({})).toEqual([])
})
