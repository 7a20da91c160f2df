import { divideRounded } from '../../query/money.ts'
import { RowError } from './rowError.ts'

/** The text of a number, where a double would lose digits. */
export class DecimalText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Receives what is stored instead of a value that changes, and the value. */
export type Note = (message: string, value: unknown) => void

/** An exact decimal number: `digits` × 10^-`decimals`. */
export interface Decimal {
  digits: bigint
  decimals: number
}

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

const grammar = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Longer numbers are invalid as amounts and rates, and slow to compute with. */
const digitsMax = 60

/** Whether a text is a JSON number. */
export function isNumberText(text: string): boolean {
  return grammar.test(text)
}

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
  const parts = partsOf(textOfNumber(withNumberText(value)))
  if (!parts) throw new RowError('must be a number')
  const { sign, digits, decimals } = parts
  if (digits.length > digitsMax || Math.abs(decimals) > digitsMax) {
    throw new RowError(`must have at most ${digitsMax} digits`)
  }
  const shift = Math.max(0, -decimals)
  return { digits: BigInt(`${sign}${digits}`) * 10n ** BigInt(shift), decimals: Math.max(0, decimals) }
}

/** @returns the digits of a number without zeros at their ends, `0` for zero; undefined for another text */
function partsOf(text: unknown): { sign: string; digits: string; decimals: number } | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = (typeof text === 'string' && grammar.exec(text)) || []
  if (sign === undefined) return undefined
  const significant = (whole + fraction).replace(/^0+/, '')
  if (significant === '') return { sign: '', digits: '0', decimals: 0 }
  // Not by a pattern such as /0*$/, which takes quadratic time in runs of zeros.
  let length = significant.length
  while (significant[length - 1] === '0') length -= 1
  const zeros = significant.length - length
  return { sign, digits: significant.slice(0, length), decimals: fraction.length - zeros - Number(exponent) }
}

function textOfNumber(value: unknown): unknown {
  return value instanceof DecimalText ? value.text : typeof value === 'number' ? String(value) : value
}

/** @returns the nearest double of a `DecimalText`, any other value as it is */
export function toDouble(value: unknown, note?: Note): unknown {
  if (!(value instanceof DecimalText)) return value
  const double = Number(value.text)
  const [exact, near] = [partsOf(value.text), partsOf(`${double}`)]
  if (exact?.digits !== near?.digits || exact?.decimals !== near?.decimals)
    note?.('is rounded to the nearest double', value)
  return double
}
