/**
 * Folds case by the rules of Unicode. Final sigma becomes sigma, so that a part of a word matches within the word.
 * ClickHouse (`conversions.search_text`) folds in the same way.
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** The position of each searched field in `search_text` of a campaign or offer; tags are the last ones. */
export const valuePositions = { id: 1, name: 2, status: 3, tags: 4 } as const

/** Between two values of `search_text`. A folded text has no upper-case letter, so it never matches across two values. */
export const valueSeparator = 'X'

/** The tables of metadata with a column `search_text`. */
export const searchedTables = ['campaigns', 'offers'] as const

/** @returns `search_text` of a campaign or offer */
export function searchTextOf({ id, name, status, tags }: SearchedRow): string {
  return [id, name, status, ...(tags ?? [])].map(fold).join(valueSeparator)
}

interface SearchedRow {
  id: string
  name: string
  status: string
  tags?: readonly string[] | undefined
}
