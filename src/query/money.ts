const decimalsMax = 6

const exactBelow = 1e15

/** An exact count or amount in millionths: a number while that is exact, else a bigint. */
export type Millionths = number | bigint

/**
 * Reads a count or an amount of at most six decimals as ClickHouse writes it.
 * @param text such as `12`, `-0.25` or `1234567890123.456789`
 */
export function millionthsOf(text: string | number): Millionths {
  // Below `exactBelow` the error is less than one half, so that rounding gives the exact integer.
  const near = Number(text) * 1e6
  if (Math.abs(near) < exactBelow) return Math.round(near)
  return parseMillionths(`${text}`)
}

/** @returns the nearest double of an amount in millionths */
export function fromMillionths(value: Millionths): number {
  return typeof value === 'number' ? value / 1e6 : Number(formatMillionths(value))
}

/**
 * From 2^33 on, several amounts have the same nearest double.
 * @returns the least and the greatest amount, in millionths, whose nearest double is a number; `least` is greater if there is none
 */
export function amountsShownAs(value: number): { least: bigint; greatest: bigint } {
  return { least: leastShownAs(value), greatest: -leastShownAs(-value) }
}

/** @returns the least amount, in millionths, whose nearest double is a number or a greater one */
function leastShownAs(value: number): bigint {
  const whole = BigInt(Math.round(value)) * 1_000_000n
  // Beyond the part after the decimal point, the distance of doubles is less than 2^-52 of their size.
  const distance = 1_000_000n + ((whole < 0n ? -whole : whole) >> 52n)
  let [low, high] = [whole - distance, whole + distance]
  while (low < high) {
    const middle = (low + high) >> 1n
    if (fromMillionths(middle) < value) low = middle + 1n
    else high = middle
  }
  return low
}

/** @returns the exact sum of two amounts */
export function sum(a: Millionths, b: Millionths): Millionths {
  if (typeof a === 'number' && typeof b === 'number' && Math.abs(a + b) < exactBelow) return a + b
  return BigInt(a) + BigInt(b)
}

/**
 * Reads an amount exactly.
 * @param decimal at most six decimals, no exponent: `12`, `-0.25`, as ClickHouse writes a `Decimal(18, 6)`
 * @returns millionths
 */
export function parseMillionths(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(decimalsMax, '0'))
}

/** @returns the amount as exact decimal text with six decimals: `-12.500000` */
export function formatMillionths(millionths: bigint): string {
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(decimalsMax + 1, '0')
  return `${millionths < 0n ? '-' : ''}${digits.slice(0, -decimalsMax)}.${digits.slice(-decimalsMax)}`
}

/** Divides exactly and rounds half away from zero. */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const isNegative = numerator < 0n !== denominator < 0n
  const [n, d] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator]
  const rounded = (2n * n + d) / (2n * d)
  return isNegative ? -rounded : rounded
}

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
