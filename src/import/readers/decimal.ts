import { DecimalText, isNumberText, losesDigits, partsOf, textOf, toDouble } from '../../query/exactJson.ts'
import { divideRounded } from '../../query/money.ts'
import { RowError } from './rowError.ts'

/** Receives what is stored instead of a value that changes, and the value. */
export type Note = (message: string, value: unknown) => void

/** An exact decimal number: `digits` × 10^-`decimals`. */
export type Decimal = { digits: bigint; decimals: number }

const moneyDecimals = 6
/** Exclusive limit of `Decimal(18, 6)`: 10^12, in millionths. */
const moneyEnd = 10n ** 18n

const rateEnd = 10n ** 12n

/** In millionths. Amounts below it have at most 15 digits, which a double represents exactly. */
const exactMillionths = 1e15

/**
 * Reads an amount: a number, also as text. More than 6 decimals are rounded half away from zero, as converted amounts are.
 * @returns millionths
 * @throws RowError when it is not a number, or is 10^12 or more
 */
export function readMoney(value: unknown, note?: Note): bigint {
  if (typeof value === 'number') {
    const millionths = Math.round(value * 1e6)
    if (Math.abs(millionths) < exactMillionths && millionths / 1e6 === value) return BigInt(millionths)
  }
  const { digits, decimals } = readDecimal(value)
  const millionths =
    decimals > moneyDecimals
      ? divideRounded(digits, 10n ** BigInt(decimals - moneyDecimals))
      : digits * 10n ** BigInt(moneyDecimals - decimals)
  if (decimals > moneyDecimals) note?.('is rounded to 6 decimals', value)
  if (millionths >= moneyEnd || millionths <= -moneyEnd) throw new RowError('must be between -10^12 and 10^12')
  return millionths
}

/**
 * Reads an exchange rate: account currency per unit of the amount's currency.
 * @throws RowError when it is not a number above 0 and below 10^12
 */
export function readRate(value: unknown): Decimal {
  const rate = readDecimal(value)
  if (rate.digits <= 0n) throw new RowError('must be above 0')
  if (rate.digits >= rateEnd * 10n ** BigInt(rate.decimals)) throw new RowError('must be below 10^12')
  return rate
}

/**
 * Converts an amount exactly, then rounds it half away from zero to 6 decimals.
 * @param millionths of the foreign currency
 * @throws RowError when the result is 10^12 or more
 */
export function convert(millionths: bigint, rate: Decimal): bigint {
  const converted = divideRounded(millionths * rate.digits, 10n ** BigInt(rate.decimals))
  if (converted >= moneyEnd || converted <= -moneyEnd)
    throw new RowError('must be between -10^12 and 10^12 after conversion')
  return converted
}

/** Longer numbers are invalid as amounts and rates, and slow to compute with. */
const digitsMax = 60

/** @returns the number that a text is, also with spaces around it, a plus sign, or no digit on one side of its point; other values as they are */
export function withNumberText(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const plain = value
    .trim()
    .replace(/^\+(?=[.\d])/, '')
    .replace(/^(-?)(?=\.\d)/, (sign) => `${sign}0`)
    .replace(/(?<=\d)\.$/, '')
  return isNumberText(plain) ? new DecimalText(plain) : value
}

function readDecimal(value: unknown): Decimal {
  const parts = partsOf(textOf(withNumberText(value)) ?? '')
  if (!parts) throw new RowError('must be a number')
  const { sign, digits, decimals } = parts
  if (digits.length > digitsMax || Math.abs(decimals) > digitsMax)
    throw new RowError(`must have at most ${digitsMax} digits`)
  return { digits: BigInt(`${sign}${digits}`) * 10n ** BigInt(Math.max(0, -decimals)), decimals: Math.max(0, decimals) }
}

/** @returns the nearest double of a `DecimalText`, any other value as it is */
export function readDouble(value: unknown, note?: Note): unknown {
  if (value instanceof DecimalText && losesDigits(value.text)) note?.('is rounded to the nearest double', value)
  return toDouble(value)
}
