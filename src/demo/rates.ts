/** Units of some currencies for a US dollar, as a demo needs them: about right. */
const perDollar: Readonly<Record<string, number>> = {
  USD: 1,
  EUR: 0.92,
  GBP: 0.79,
  CHF: 0.88,
  CAD: 1.37,
  AUD: 1.52,
  JPY: 151,
  INR: 84,
  BRL: 5.6,
}

/** A rate swings by this much within this time. */
const swing = 0.015
const swingMs = 57 * 86_400_000

/**
 * The rate of a moment, made up.
 * @returns units of the account's currency for one of the row's, to 4 decimals; null when they are the same
 */
export function exchangeRate(currency: string, accountCurrency: string, atMs: number): number | null {
  if (currency === accountCurrency) return null
  const middle = (perDollar[accountCurrency] ?? 1) / (perDollar[currency] ?? 1)
  return Number((middle * (1 + swing * Math.sin((2 * Math.PI * atMs) / swingMs))).toFixed(4))
}
