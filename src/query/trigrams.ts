import { ch, type Fragment, texts } from '../stores/clickhouse/sql.ts'

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
