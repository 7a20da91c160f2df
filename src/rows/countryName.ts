const englishNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/**
 * @param code ISO 3166-1 alpha-2
 * @returns the English name, null for an unassigned code
 */
export function countryName(code: string): string | null {
  return /^[A-Z]{2}$/.test(code) ? (englishNames.of(code) ?? null) : null
}
