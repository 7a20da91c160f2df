const decimalsMax = 6

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
