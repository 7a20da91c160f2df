import { ch, type Fragment, texts } from '../stores/clickhouse/sql.ts'

/**
 * Folds case by the rules of Unicode. Final sigma becomes sigma, so that a part of a word matches within the word.
 * ClickHouse (`conversions.search_text`) folds in the same way.
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** @returns `fold` of an expression */
export function folded(value: Fragment): Fragment {
  return ch`replaceAll(lowerUTF8(toString(${value})), 'ς', 'σ')`
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

type SearchedRow = { id: string; name: string; status: string; tags?: readonly string[] | undefined }

/** More trigrams exclude few more rows. */
const trigramsMax = 32

/**
 * Condition on conversions that their index of trigrams evaluates without reading text: `search_text` contains every trigram
 * of a text, at any position. `search_text` includes the ids of click and visitor.
 * @param folded lower case, three characters or more
 */
export function hasTrigrams(folded: string): Fragment {
  const characters = [...folded]
  const trigrams = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''))
  return ch`hasAllTokens(search_text, ${texts([...new Set(trigrams)].slice(0, trigramsMax))})`
}
