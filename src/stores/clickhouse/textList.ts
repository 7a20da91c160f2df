import { parameterText } from './form.ts'
import { ch, type Fragment, join, texts } from './sql.ts'

/** A chunk closes above 32 KiB. With a last text of 24 KiB it has 112 KiB when quoted; ClickHouse rejects a field above 128 KiB. */
const chunkBytes = 32_768

/** An array of any number of texts, each of at most 24 KiB, as one parameter per chunk. */
export function textList(values: readonly string[]): Fragment {
  return concat(chunksOf(values).map((chunk) => ch`${texts(chunk)}`))
}

/**
 * Writes texts as parameters of a read. A list of tens of thousands is written in parts, one per turn of the event loop:
 * `textList` would write all of them when the statement is sent, each time.
 * @returns arrays for `concat`; at least one
 */
export function writeTexts(values: readonly string[]): Fragment[] {
  return chunksOf(values).map(
    (chunk) => ch`${{ ...texts(chunk), value: { written: Buffer.from(parameterText(chunk)) } }}`,
  )
}

/** @returns one array of the texts of several arrays */
export const concat = (arrays: readonly Fragment[]): Fragment => ch`arrayConcat(${join(arrays)})`

function chunksOf(values: readonly string[], bytesMax = chunkBytes): string[][] {
  const chunks: string[][] = [[]]
  let bytes = 0
  for (const value of values) {
    if (bytes > bytesMax) {
      chunks.push([])
      bytes = 0
    }
    chunks.at(-1)?.push(value)
    bytes += Buffer.byteLength(value) + 3
  }
  return chunks
}

/** Condition: a text is one of any number of texts, at least one. Replicated tables reject `idList` in a mutation: it is a subquery. */
export function isAnyOf(value: Fragment, choices: readonly string[]): Fragment {
  return ch`(${join(
    chunksOf(choices).map((chunk) => ch`${value} IN ${texts(chunk)}`),
    ' OR ',
  )})`
}

/** The right side of `IN` for any number of ids. */
export const idList = (ids: readonly string[]): Fragment => ch`(SELECT arrayJoin(${textList(ids)}))`

/**
 * An array of texts of at most 256 bytes without U+0000, which fragments share. It is written once, and split by a scalar subquery: with
 * an array of tens of thousands as a parameter, ClickHouse plans the statement for seconds. ClickHouse rejects a form of about 1,000 fields,
 * so chunks are longer than chunks of `textList`, and the arrays of a statement may have 50 MB together.
 */
export function manyTexts(values: readonly string[]): Fragment {
  const chunks = chunksOf(values, 60_000)
  if (chunks.length === 1) return ch`${texts(values)}`
  const written = chunks.map((chunk) => Buffer.from(parameterText(chunk.join('\0'))))
  const parameters = written.map((buffer) => ch`${{ type: 'String', value: { written: buffer } }}`)
  return ch`(SELECT splitByChar('\\0', concatWithSeparator('\\0', ${join(parameters)})))`
}

/** The right side of `IN` for any number of ids of at most 64 characters, which fragments share. */
export const anyOf = (ids: readonly string[]): Fragment =>
  ids.length <= 1_000 ? ch`${texts(ids)}` : ch`(SELECT arrayJoin(${manyTexts(ids)}))`
