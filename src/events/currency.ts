import type { Note } from './notes.ts'

/** Codes that Intl lacks: funds, metals, tests, and the new VED. Source: list one of ISO 4217, six-group.com, as of 2024-06-25. */
const notInIntl = 'BOV CHE CHW CLF COU MXV USN UYI UYW VED XAG XAU XBA XBB XBC XBD XPD XPT XTS XUA XXX'.split(' ')

const currencyCodes: ReadonlySet<unknown> = new Set([...Intl.supportedValuesOf('currency'), ...notInIntl])

/** @returns an uppercase ISO 4217 code; the empty string for any other value, which is ignored */
export function keepCurrency(given: unknown, note: Note): string {
  if (currencyCodes.has(given)) return given as string
  if (given !== undefined && given !== null) {
    note('currency_ignored', 'currency', 'currency must be an uppercase ISO 4217 code such as USD.')
  }
  return ''
}
