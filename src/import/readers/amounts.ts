import { DecimalText, isNumberText, losesDigits, partsOf, textOf, toDouble } from '../../query/exactJson.ts'
import { divideRounded } from '../../query/money.ts'
import { RowError } from './rowError.ts'
import { isMarkOf } from './writtenAmounts.ts'

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

export interface AmountFields {
  /** Account currency per unit of `currency`; null: absent. */
  exchangeRate: Decimal | null
  /** The currency of the base amount; empty: absent. Exported rows have it. */
  baseCurrency: string
  /** The sign or code of a currency beside an amount of the row, as `€`; empty: none. */
  mark: string
  /** The same beside a base amount. */
  baseMark: string
}

export const blankAmount: AmountFields = { exchangeRate: null, baseCurrency: '', mark: '', baseMark: '' }

/**
 * Returns an amount in the account's currency: the row's base amount if there is one, which may be rounded and so differ
 * from the amount at the row's rate; otherwise the amount at the row's rate, or at the rate of `--rates`.
 * @param baseField the field of the base amount: `costBase`
 * @param amount millionths of the row's currency, null when absent
 * @param base millionths of the account's currency, null when absent
 * @param own the account's currency
 * @returns millionths, null when there is no amount
 * @throws RowError for a foreign amount other than 0 without rate or base, for an amount in the account's currency with another
 *   base or rate, and for a sign or code of another currency
 */
export function baseAmount(
  baseField: string,
  amount: bigint | null,
  base: bigint | null,
  { currency, exchangeRate, baseCurrency, mark, baseMark }: AmountFields & { currency: string },
  own: string,
  { rates, namesOptions = true }: { rates?: ReadonlyMap<string, Decimal> | undefined; namesOptions?: boolean } = {},
): bigint | null {
  if (mark !== '' && !isMarkOf(mark, currency || own))
    throw new RowError(`currency: is ${currency || own}, but an amount has ${mark}; map or set the currency of the row`)
  if (baseMark !== '' && !isMarkOf(baseMark, own))
    throw new RowError(`${baseField}: has ${baseMark}, but must be an amount in the account's currency, ${own}`)
  if (base !== null && baseCurrency !== '' && baseCurrency !== own) {
    throw new RowError(`baseCurrency: must be the account's currency, ${own}`)
  }
  if (amount === null) return base
  if (currency === '' || currency === own) {
    if (base !== null && base !== amount) throw new RowError(`${baseField}: must equal an amount in ${own}`)
    if (exchangeRate !== null && exchangeRate.digits !== 10n ** BigInt(exchangeRate.decimals))
      throw new RowError(`exchangeRate: must be 1 from ${own} to ${own}`)
    return amount
  }
  if (base !== null) return base
  const rate = exchangeRate ?? rates?.get(currency)
  if (rate) return convert(amount, rate)
  if (amount === 0n) return amount
  const remedy = namesOptions ? `; --rates ${currency}=RATE gives one` : ''
  throw new RowError(`${baseField}: is required, or exchangeRate, for an amount in ${currency}${remedy}`)
}
