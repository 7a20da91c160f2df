const englishNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Names by code, of at most 676 codes: a report asks for each a hundred times. */
const names = new Map<string, string | null>()

/**
 * @param code ISO 3166-1 alpha-2
 * @returns the English name, null for an unassigned code
 */
export function countryName(code: string): string | null {
  const known = names.get(code)
  if (known !== undefined) return known
  if (!/^[A-Z]{2}$/.test(code)) return null
  const name = englishNames.of(code) ?? null
  names.set(code, name)
  return name
}
