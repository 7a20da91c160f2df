import fc from 'fast-check'
import { expect, it } from 'vitest'
import { amountsShownAs, fromMillionths, millionthsOf, ratio, sum } from '../../src/query/money.ts'

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

it('an amount is matched by the number that shows it, and by no other', () => {
  fc.assert(
    fc.property(fc.oneof(amounts, fc.bigInt({ min: 2n ** 52n, max: 2n ** 56n })), (amount) => {
      const { least, greatest } = amountsShownAs(fromMillionths(amount))
      expect(least <= amount && amount <= greatest).toBe(true)
      const shown = [least - 1n, least, greatest, greatest + 1n].map((one) => fromMillionths(one))
      expect(shown.map((one) => one === fromMillionths(amount))).toEqual([false, true, true, false])
    }),
  )
  const none = amountsShownAs(0.1234567)
  expect(none.least > none.greatest).toBe(true)
})

it('a ratio reads and writes amounts exactly', () => {
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const [x, y] = [millionthsOf(textOf(a)), millionthsOf(textOf(b))]
      expect([BigInt(x), BigInt(sum(x, y)), BigInt(sum(x, -y))]).toEqual([a, a + b, a - b])
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
