import { convert, type Decimal } from './decimal.ts'
import { RowError } from './rowError.ts'

/** An amount of a row and its fields for conversion. */
export interface Amount {
  /** The field that holds the amount in the account's currency: `costBase`. */
  baseField: string
  /** Millionths of `currency`. */
  amount: bigint | null
  /** Empty: the account's currency. */
  currency: string
  /** Millionths of the account's currency; null: absent. */
  base: bigint | null
  /** Account currency per unit of `currency`; null: absent. */
  exchangeRate: Decimal | null
  /** The currency of `base`; empty: absent. Exported rows have it. */
  baseCurrency: string
}

/**
 * Returns an amount in the account's currency: the row's base amount if there is one, which may be rounded and so differ
 * from the amount at the row's rate; otherwise the amount at the row's rate.
 * @returns millionths, null when there is no amount
 * @throws RowError for a foreign amount without rate or base, and for an amount in the account's currency with another
 *   base or rate
 */
export function baseAmount(
  { baseField, amount, currency, base, exchangeRate, baseCurrency }: Amount,
  own: string,
): bigint | null {
  if (base !== null && baseCurrency !== '' && baseCurrency !== own) {
    throw new RowError(`baseCurrency: must be the account's currency, ${own}`)
  }
  if (amount === null) return base
  if (currency === '' || currency === own) {
    if (base !== null && base !== amount) throw new RowError(`${baseField}: must equal an amount in ${own}`)
    if (exchangeRate !== null && !isOne(exchangeRate))
      throw new RowError(`exchangeRate: must be 1 from ${own} to ${own}`)
    return amount
  }
  if (base !== null) return base
  if (exchangeRate !== null) return convert(amount, exchangeRate)
  throw new RowError(`${baseField}: is required, or exchangeRate, for an amount in ${currency}`)
}

function isOne({ digits, decimals }: Decimal): boolean {
  return digits === 10n ** BigInt(decimals)
}
