/** The decimal sign of amounts: `point` as in 1,234.56, `comma` as in 1.234,56. */
export const decimalSigns = ['point', 'comma'] as const
export type DecimalSign = (typeof decimalSigns)[number]

/** Minus, sign or code, minus, digits in groups of three (in India two) or without groups, decimals, sign or code. */
const patterns: Readonly<Record<DecimalSign, RegExp>> = {
  point:
    /^([-+\u2212]?) ?([\p{L}\p{Sc}]{0,5}) ?([-+\u2212]?)(\d{1,3}(?:([,' \u2019])\d{3})(?:\5\d{3})*|\d{1,2}(?:,\d\d)+,\d{3}|\d+|(?=\.\d))(?:\.(\d+))? ?((?:[\p{L}\p{Sc}]{1,5}\.?)?)$/u,
  comma:
    /^([-+\u2212]?) ?([\p{L}\p{Sc}]{0,5}) ?([-+\u2212]?)(\d{1,3}(?:([.' \u2019])\d{3})(?:\5\d{3})*|\d+|(?=,\d))(?:,(\d+))? ?((?:[\p{L}\p{Sc}]{1,5}\.?)?)$/u,
}

/** Longer than any amount; bounds the work for a text. */
const charactersMax = 100

/**
 * Reads an amount as networks write it: `1,234.56`, `US$12.50`, `-12.50 USD`, `1 234,56 €`, and credits as `(12.50)` and `12.50-`.
 * @returns its plain form, and the signs and codes beside it, with a space between; undefined for another text
 */
export function readWritten(text: string, decimal: DecimalSign): { plain: string; mark: string } | undefined {
  const plain = text.slice(0, charactersMax + 1).replace(/\p{Zs}/gu, ' ')
  const signed = plain.trim().replace(/^(\D{0,6})\((.+)\)|^([^-\u2212]+)[-\u2212]$/, '-$1$2$3')
  const [, first, before, second, whole = '', , decimals = '0', after] = patterns[decimal].exec(signed) ?? []
  if (first === undefined || (first !== '' && second !== '') || plain.length > charactersMax) return undefined
  const sign = /[-\u2212]/.test(`${first}${second}`) ? '-' : ''
  const digits = whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '') || '0'
  return { plain: `${sign}${digits}.${decimals}`, mark: [before, after].filter(Boolean).join(' ') }
}

/** Signs and codes by currency. */
const marks = new Map<string, readonly string[]>()

/** Whether each of the signs and codes can mean the currency. `$` can mean any dollar, `US$` means the dollar of the United States. */
export function isMarkOf(mark: string, currency: string): boolean {
  if (!marks.has(currency)) marks.set(currency, marksOf(currency))
  return mark.split(' ').every((one) => marks.get(currency)?.includes(one.toUpperCase().replace('.', '')))
}

/** @returns the code of a currency at the end of the name of a column: of `Amount spent (USD)`; empty if it has none */
export function codeInName(column: string): string {
  const [, code = ''] = /[([]([A-Z]{3})[)\]]$/.exec(column) ?? []
  return Intl.supportedValuesOf('currency').includes(code) ? code : ''
}

function marksOf(currency: string): string[] {
  const shown = (locale: string, currencyDisplay: 'symbol' | 'narrowSymbol') =>
    new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay })
      .formatToParts(0)
      .find(({ type }) => type === 'currency')?.value ?? currency
  const narrow = shown('en-US', 'narrowSymbol')
  const symbols = ['en-US', 'en-CA', 'ja-JP'].map((locale) => shown(locale, 'symbol'))
  const all = [currency, narrow, `${currency.slice(0, 2)}${narrow}`, ...symbols]
  return all.map((one) => one.toUpperCase())
}
