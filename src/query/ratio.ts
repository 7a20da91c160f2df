import { divideRounded, fromMillionths, type Millionths } from './money.ts'

/** @returns the nearest double of `ratioMillionths`, null when the denominator is zero */
export function ratio(numerator: Millionths, denominator: Millionths, times: 1 | 100): number | null {
  const rounded = ratioMillionths(numerator, denominator, times)
  return rounded === null ? null : fromMillionths(rounded)
}

/**
 * Divides exactly and rounds to six decimals, half away from zero.
 * @param times 100 for percent
 * @returns null when the denominator is zero
 */
export function ratioMillionths(numerator: Millionths, denominator: Millionths, times: 1 | 100): Millionths | null {
  if (Number(denominator) === 0) return null
  const near = Math.abs((Number(numerator) * times * 1e6) / Number(denominator))
  const down = Math.floor(near)
  // The rounding error of doubles is far below 0.001, so it cannot move the quotient across one half.
  if (near < 1e9 && Math.abs(near - down - 0.5) > 1e-3) {
    const isNegative = Number(numerator) < 0 !== Number(denominator) < 0
    const nearest = near - down < 0.5 ? down : down + 1
    return isNegative && nearest > 0 ? -nearest : nearest
  }
  return divideRounded(BigInt(numerator) * BigInt(times) * 1_000_000n, BigInt(denominator))
}
