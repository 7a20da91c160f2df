import { ch, type Fragment, join, texts } from './sql.ts'

/** A chunk closes above 32 KiB. With a last text of 24 KiB it has 112 KiB when quoted; ClickHouse rejects a field above 128 KiB. */
const chunkBytes = 32_768

/** An array of any number of texts, each of at most 24 KiB, as one parameter per chunk. */
export function textList(values: readonly string[]): Fragment {
  const chunks: string[][] = [[]]
  let bytes = 0
  for (const value of values) {
    if (bytes > chunkBytes) {
      chunks.push([])
      bytes = 0
    }
    chunks.at(-1)?.push(value)
    bytes += Buffer.byteLength(value) + 3
  }
  return ch`arrayConcat(${join(chunks.map((chunk) => ch`${texts(chunk)}`))})`
}

/** The right side of `IN` for any number of ids. */
export function idList(ids: readonly string[]): Fragment {
  return ch`(SELECT arrayJoin(${textList(ids)}))`
}
