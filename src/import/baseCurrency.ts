import { convert, type Decimal } from './decimal.ts'
import { RowError } from './rowError.ts'

/** An amount as it came, and what was given to convert it. */
export interface Amount {
  /** The field that holds the amount in the account's currency: `costBase`. */
  baseField: string
  /** Millionths of `currency`. */
  amount: bigint | null
  /** Empty: the account's. */
  currency: string
  /** Millionths of the account's currency, if given. */
  base: bigint | null
  /** Account currency per unit of `currency`, if given. */
  exchangeRate: Decimal | null
  /** The currency that `base` is in, if the row says so; listed rows do. */
  baseCurrency: string
}

/**
 * Settles what an amount is in the account's currency: what the row says, which may be rounded and so need not be what
 * its rate gives, else the amount at the row's own rate. It is never converted again.
 * @returns millionths, null when there is no amount
 * @throws Refusal when it would be a guess: a foreign amount without rate or base, or an amount in the account's own
 *   currency with another base or rate
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
    if (base !== null && base !== amount)
      throw new RowError(`${baseField}: must equal an amount that is in ${own} already`)
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
