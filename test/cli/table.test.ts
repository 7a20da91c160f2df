import { expect, it } from 'vitest'
import { table } from '../../src/cli/table.ts'

it('formats any number of rows, with right-aligned numbers', () => {
  const rows = Array.from({ length: 200_000 }, (_, clicks) => ({ clicks, at: new Date(0), details: { a: null } }))
  const lines = table(rows, '').split('\n')
  expect(lines).toHaveLength(200_001)
  expect(lines.slice(0, 2)).toEqual([
    'clicks  at                        details',
    '     0  1970-01-01T00:00:00.000Z  {"a":null}',
  ])
  expect(table([{ id: 'a\u001b', tags: ['x', 'y'], none: null }], '')).toBe('id       tags  none\na\\u001b  x,y   -')
  expect(table([], 'No rows.')).toBe('No rows.')
})
