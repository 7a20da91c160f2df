import { divideRounded, formatMillionths, parseMillionths } from './money.ts'

/** Counts and amounts as millionths, exactly: as integers where these are exact, else as big ones. */
export type Millionths = number | bigint

/**
 * Reads a count or an amount of at most six decimals as ClickHouse writes it.
 * @param text such as `12`, `-0.25` or `1234567890123.456789`
 */
export function millionthsOf(text: string | number): Millionths {
  // Off by less than a half below this, so that rounding gives the integer itself.
  const near = Number(text) * 1e6
  if (Math.abs(near) < exactBelow) return Math.round(near)
  return parseMillionths(`${text}`)
}

/** @returns the nearest number of what so many millionths are */
export function fromMillionths(value: Millionths): number {
  return typeof value === 'number' ? value / 1e6 : Number(formatMillionths(value))
}

export function difference(a: Millionths, b: Millionths): Millionths {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return BigInt(a) - BigInt(b)
}

/**
 * Divides and rounds to six decimals, half away from zero, as if computed without end.
 * @param times 100 for percent
 * @returns null when the denominator is zero
 */
export function ratio(numerator: Millionths, denominator: Millionths, times: 1 | 100): number | null {
  if (Number(denominator) === 0) return null
  const near = Math.abs((Number(numerator) * times * 1e6) / Number(denominator))
  const down = Math.floor(near)
  // What was lost on the way is far too little to take the quotient over a half.
  if (near < 1e9 && Math.abs(near - down - 0.5) > 1e-3) {
    const isNegative = Number(numerator) < 0 !== Number(denominator) < 0
    const nearest = near - down < 0.5 ? down : down + 1
    return isNegative && nearest > 0 ? -nearest / 1e6 : nearest / 1e6
  }
  return fromMillionths(divideRounded(BigInt(numerator) * BigInt(times) * 1_000_000n, BigInt(denominator)))
}

const exactBelow = 1e15
