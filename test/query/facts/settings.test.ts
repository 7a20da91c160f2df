import { describe, expect, it } from 'vitest'
import type { Dimension } from '../../../schema/dimensions.ts'
import { planFacts } from '../../../src/query/facts/plan.ts'
import { factsSettings } from '../../../src/query/facts/sql.ts'
import { longRead } from '../../../src/stores/clickhouse/select.ts'

const dayMs = 86_400_000
const untilMs = Date.UTC(2026, 10, 21)

/** Whether a report has a lower CPU priority than other queries. */
function isLong(dimensions: Dimension[], range: { fromMs: number; untilMs: number }): boolean {
  const facts = planFacts({ accountId: 'acme', range, zone: 'UTC', dimensions, filters: [] })
  const settings = factsSettings(facts)
  return Object.entries(longRead).every(([name, value]) => settings[name] === value)
}

describe('a report has a lower CPU priority than other queries', () => {
  it('if it reads more than two days of rows', () => {
    expect(isLong(['sub1', 'city'], { fromMs: untilMs - 3 * dayMs, untilMs })).toBe(true)
    expect(isLong(['sub1', 'city'], { fromMs: untilMs - 2 * dayMs, untilMs })).toBe(false)
  })

  it('never if it reads sums, also of a range that ends within a day', () => {
    expect(isLong(['country'], { fromMs: untilMs - 365 * dayMs, untilMs })).toBe(false)
    expect(isLong(['country'], { fromMs: untilMs - 365 * dayMs + 1, untilMs: untilMs - 1 })).toBe(false)
  })
})
