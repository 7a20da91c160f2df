import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ReportMetric, reportMetricNames } from '../../../schema/metrics.ts'
import { orderBuckets } from '../../../src/api/reports/buckets.ts'
import { planReport } from '../../../src/api/reports/plan.ts'
import { readSums } from '../../../src/query/evaluateMetrics.ts'
import { formatMillionths } from '../../../src/query/money.ts'

/** Metrics in millionths. */
type Values = Readonly<Record<ReportMetric, bigint>>
interface Row {
  id: string
  values: Values
}

/** Metrics that are computed from others, exactly, in millionths; null for a null ratio. */
const computed: Partial<Record<ReportMetric, (values: Values) => bigint | null>> = {
  profit: ({ revenue, cost }) => revenue - cost,
  roi: ({ revenue, cost }) => quotient((revenue - cost) * 100n, cost),
  cr: ({ conversions, clicks }) => quotient(conversions * 100n, clicks),
  epc: ({ revenue, clicks }) => quotient(revenue, clicks),
  cpa: ({ cost, conversions }) => quotient(cost, conversions),
  cpc: ({ cost, clicks }) => quotient(cost, clicks),
  aov: ({ revenue, conversions }) => quotient(revenue, conversions),
}

/** Rounds half away from zero at the sixth decimal. */
function quotient(n: bigint, d: bigint): bigint | null {
  if (d === 0n) return null
  const size = (2_000_000n * (n < 0n ? -n : n) + d) / (2n * d)
  return n < 0n ? -size : size
}

// Small amounts and counts, so that many ratios are equal once they are rounded, and amounts beyond the exact doubles.
const count = fc.nat(4).map((rows) => BigInt(rows) * 1_000_000n)
const amount = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 4n }) },
  fc.bigInt({ min: 10n ** 15n - 2n, max: 10n ** 15n + 2n }),
  fc.bigInt({ min: 10n ** 20n, max: 10n ** 20n + 2n }),
)
const values = Object.fromEntries(reportMetricNames.map((name) => [name, /revenue|cost/i.test(name) ? amount : count]))
const groups = fc.uniqueArray(
  fc.record({
    id: fc.string({ unit: fc.constantFrom('a', 'B', 'é', '😀', '\uffff'), minLength: 1, maxLength: 3 }),
    values: fc.record(values) as fc.Arbitrary<Values>,
  }),
  { selector: ({ id }) => id, maxLength: 40 },
)

const everMs = Number.NEGATIVE_INFINITY
const retained = { clicksMs: everMs, conversionsMs: everMs, eventsMs: everMs }

function orderOf(rows: readonly Row[], sort: string, minClicks?: number): string[] {
  const query = { group_by: 'campaign', sort, ...(minClicks !== undefined && { min_clicks: minClicks }) }
  const plan = planReport(query, { accountId: 'acme', currency: 'USD', retained }, Date.UTC(2026, 10, 21))
  const read = rows.map(({ id, values }) => ({
    ids: [id],
    sums: readSums(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, formatMillionths(value)]))),
  }))
  return orderBuckets(read, plan).buckets.map(({ ids }) => ids[0] ?? '')
}

const byId = (one: Row, other: Row) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id))

describe('the rows of a report', () => {
  it.each(reportMetricNames)('are ordered by their exact %s, null last, and then by id', (name) => {
    const orderedBy = computed[name] ?? ((values: Values) => values[name])
    fc.assert(
      fc.property(
        groups,
        fc.boolean(),
        fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
        (rows, isDescending, minClicks) => {
          const expected = rows
            .filter(({ values }) => values.clicks >= BigInt(minClicks ?? 0) * 1_000_000n)
            .toSorted((one, other) => {
              const [a, b] = [orderedBy(one.values), orderedBy(other.values)]
              if (a === b) return byId(one, other)
              if (a === null || b === null) return a === null ? 1 : -1
              return a < b === isDescending ? 1 : -1
            })
          expect(orderOf(rows, `${isDescending ? '-' : ''}${name}`, minClicks)).toEqual(expected.map(({ id }) => id))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are ordered by the bytes of the id in both directions', () => {
    fc.assert(
      fc.property(groups, (rows) => {
        const ids = rows.toSorted(byId).map(({ id }) => id)
        expect([orderOf(rows, 'id'), orderOf(rows, '-id')]).toEqual([ids, ids.toReversed()])
      }),
      { numRuns: 60 },
    )
  })
})
