/**
 * Takes the case out of a text, by Unicode's rules: two texts that differ in case alone become the same. The final
 * sigma is a sigma, so that a part of a word is found in the word. ClickHouse does the same in `search_text`.
 */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** @returns the pattern of LIKE that finds a folded text anywhere, literally */
export function likeAnywhere(folded: string): string {
  return `%${escape(folded)}%`
}

/**
 * @returns a pattern of LIKE for Postgres' `search_text`, which is folded for ASCII alone: it finds every row that holds
 *   the text, and some that don't
 */
export function likeLoosely(folded: string): string {
  return `%${escape(folded).replace(/[^\x00-\x7f]+/gu, '%')}%`
}

function escape(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
