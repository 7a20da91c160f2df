import { convert, type Decimal } from './decimal.ts'
import { RowError } from './rowError.ts'

export interface AmountFields {
  /** Account currency per unit of `currency`; null: absent. */
  exchangeRate: Decimal | null
  /** The currency of the base amount; empty: absent. Exported rows have it. */
  baseCurrency: string
}

export const blankAmount: AmountFields = { exchangeRate: null, baseCurrency: '' }

/**
 * Returns an amount in the account's currency: the row's base amount if there is one, which may be rounded and so differ
 * from the amount at the row's rate; otherwise the amount at the row's rate.
 * @param baseField the field of the base amount: `costBase`
 * @param amount millionths of the row's currency, null when absent
 * @param base millionths of the account's currency, null when absent
 * @param own the account's currency
 * @returns millionths, null when there is no amount
 * @throws RowError for a foreign amount other than 0 without rate or base, and for an amount in the account's currency with another
 *   base or rate
 */
export function baseAmount(
  baseField: string,
  amount: bigint | null,
  base: bigint | null,
  { currency, exchangeRate, baseCurrency }: AmountFields & { currency: string },
  own: string,
): bigint | null {
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
  if (exchangeRate !== null) return convert(amount, exchangeRate)
  if (amount === 0n) return amount
  throw new RowError(`${baseField}: is required, or exchangeRate, for an amount in ${currency}`)
}
