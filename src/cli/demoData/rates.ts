/** Units of a currency per US dollar, approximate. */
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

/** Amplitude and period of the changes of a rate. */
const swing = 0.015
const swingMs = 57 * 86_400_000

/**
 * Computes a fictitious exchange rate at an instant.
 * @returns units of the account's currency per unit of the row's, with 4 decimals; null for equal currencies
 */
export function exchangeRate(currency: string, accountCurrency: string, atMs: number): number | null {
  if (currency === accountCurrency) return null
  const middle = (perDollar[accountCurrency] ?? 1) / (perDollar[currency] ?? 1)
  return Number((middle * (1 + swing * Math.sin((2 * Math.PI * atMs) / swingMs))).toFixed(4))
}
