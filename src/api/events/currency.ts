/**
 * Codes of ISO 4217 that no country pays with (funds, metals, bond units, tests) and one that Intl does not know yet.
 * Source: list one of ISO 4217, six-group.com, as of 2024-06-25.
 */
const notInIntl = [
  'BOV',
  'CHE',
  'CHW',
  'CLF',
  'COU',
  'MXV',
  'USN',
  'UYI',
  'UYW',
  'VED',
  'XAG',
  'XAU',
  'XBA',
  'XBB',
  'XBC',
  'XBD',
  'XPD',
  'XPT',
  'XTS',
  'XUA',
  'XXX',
]

const currencyCodes: ReadonlySet<unknown> = new Set([...Intl.supportedValuesOf('currency'), ...notInIntl])

/** @returns the currency when it is a code of ISO 4217 in uppercase, else the empty string: it is ignored, never refused */
export function keepCurrency(given: unknown): string {
  return currencyCodes.has(given) ? (given as string) : ''
}
