import { expect, it } from 'vitest'
import { joinMonths } from '../../../src/writer/derived/clickDays.ts'

it('months of one year with few rows are compared and rebuilt together, in order', () => {
  const months = [
    { month: '2025-11-01', rows: 10 },
    { month: '2025-12-01', rows: 10 },
    { month: '2026-01-01', rows: 60_000 },
    { month: '2026-02-01', rows: 40_000 },
    { month: '2026-03-01', rows: 1 },
    { month: '2026-05-01', rows: 5_000_000 },
    { month: '2026-06-01', rows: 1 },
  ]
  expect(joinMonths(months).map(({ first, last }) => [first.slice(0, 7), last.slice(0, 7)])).toEqual([
    ['2025-11', '2025-12'],
    ['2026-01', '2026-02'],
    ['2026-03', '2026-03'],
    ['2026-05', '2026-05'],
    ['2026-06', '2026-06'],
  ])
  expect(joinMonths([])).toEqual([])
})
