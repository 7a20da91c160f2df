import { describe, expect, it } from 'vitest'
import { filterNames } from '../../schema/filters.ts'
import { type FilterQuery, readFilters } from '../../src/query/filters.ts'

const only = (query: FilterQuery) => readFilters(query)[0]

describe('a filter', () => {
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
