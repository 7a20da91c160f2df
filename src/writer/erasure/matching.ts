import { ch, counts, type Fragment, join, text, texts } from '../../stores/clickhouse/sql.ts'
import type { ErasedKind, Erasure } from './erasures.ts'
import type { PersonalTable } from './personalFields.ts'

/** Hashes in one parameter, which may have 128 KiB. */
const erasuresPerParameter = 1_500

/**
 * Condition: the row has a personal field that is not empty, belongs to an erased visitor or click, and has a time up to the erasure. Only
 * hashes: ClickHouse keeps the text of a mutation on disk. `erasedIdentifiers.ts` compares rows of an import.
 * @param erasures of one key
 */
export function isToBlank({ personal, clickId, datedAt }: PersonalTable, erasures: readonly Erasure[]): Fragment {
  const ofVisitor = erasedUntilMs('visitor', ch`visitor_id`, erasures)
  const ofClick = erasedUntilMs('click', clickId, erasures)
  // One function, `concat`, since ClickHouse analyzes the condition again for each column of a mutation.
  return ch`concat(${join(personal)}) != ''
  AND toUnixTimestamp64Milli(${datedAt}) < greatest(${ofVisitor}, ${ofClick})`
}

/** The end of the erased time, epoch milliseconds, exclusive; 0: not erased. @param all erasures of one key */
export function erasedUntilMs(kind: ErasedKind, column: Fragment, all: readonly Erasure[]): Fragment {
  const erasures = all.filter((erasure) => erasure.kind === kind)
  if (erasures.length === 0) return ch`toUInt64(0)`
  const prefix = `${erasures[0]?.key ?? ''} ${kind} `
  // HMAC takes ten times as long in ClickHouse, and protects no better here: no hash is computed from chosen text.
  const hash = ch`hex(SHA256(concat(${text(prefix)}, ${column})))`
  const untilMs = inChunks(erasures, erasuresPerParameter).map((some) => {
    const hashes = texts(some.map((erasure) => erasure.hash))
    const until = counts(some.map(({ erasedMs }) => erasedMs + 1))
    return ch`transform(${hash}, ${hashes}, ${until}, toUInt64(0))`
  })
  return ch`if(${column} = '', toUInt64(0), greatest(${join([ch`toUInt64(0)`, ...untilMs])}))`
}

/** Splits a list into lists of at most `size` items, in order. */
export function inChunks<Item>(items: readonly Item[], size: number): Item[][] {
  const chunks: Item[][] = []
  for (let from = 0; from < items.length; from += size) chunks.push(items.slice(from, from + size))
  return chunks
}
