/**
 * Folds case by Unicode's rules: two texts that differ in case alone become the same. Final sigma becomes sigma, so that a
 * part of a word is found in the word. `search_text` is folded alike in ClickHouse (`conversions`) and in Postgres
 * (`search_text_of`).
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** @returns the pattern of LIKE that finds a folded text anywhere, literally */
export function likeAnywhere(folded: string): string {
  return `%${folded.replace(/[\\%_]/g, '\\$&')}%`
}
