/**
 * Folds case by the rules of Unicode. Final sigma becomes sigma, so that a part of a word matches within the word.
 * ClickHouse (`conversions.search_text`) and Postgres (`search_text_of`) fold in the same way.
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** @returns a LIKE pattern that matches a folded text literally, at any position */
export function likeAnywhere(folded: string): string {
  return `%${folded.replace(/[\\%_]/g, '\\$&')}%`
}
