import fc from 'fast-check'
import { expect, it } from 'vitest'
import { difference, fromMillionths, millionthsOf, ratio } from '../../src/query/money.ts'

/** All amounts of Decimal(38, 6); small ones and ties as often as large ones. */
const amounts = fc.oneof(
  fc.bigInt({ min: -200n, max: 200n }),
  fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
  fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }),
)
const textOf = (millionths: bigint): string => {
  const digits = `${millionths < 0n ? -millionths : millionths}`.padStart(7, '0')
  const decimals = digits.slice(-6).replace(/0+$/, '')
  return `${millionths < 0n ? '-' : ''}${digits.slice(0, -6)}${decimals && `.${decimals}`}`
}

it('a ratio reads and writes amounts exactly', () => {
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const [x, y] = [millionthsOf(textOf(a)), millionthsOf(textOf(b))]
      expect([BigInt(x), BigInt(difference(x, y))]).toEqual([a, a - b])
      expect(fromMillionths(x)).toBe(Number(textOf(a)))
    }),
  )
})

it('a ratio is the true quotient, rounded half away from zero at the sixth decimal', () => {
  const rounded = (n: bigint, d: bigint) => {
    const twice = 2n * (n < 0n ? -n : n)
    const by = d < 0n ? -d : d
    const size = (twice + by) / (2n * by)
    return Number(textOf(n < 0n !== d < 0n ? -size : size))
  }
  fc.assert(
    fc.property(amounts, amounts, fc.constantFrom(1, 100), (n, d, times) => {
      const found = ratio(millionthsOf(textOf(n)), millionthsOf(textOf(d)), times)
      expect(found).toBe(d === 0n ? null : rounded(n * BigInt(times) * 1_000_000n, d))
    }),
    { numRuns: 2_000 },
  )
})
