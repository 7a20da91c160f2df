import type { IncomingMessage } from 'node:http'
import { parseError } from '@clickhouse/client'

/**
 * The bytes before the text of an error. A statement that fails in the middle of its response writes the error after the rows,
 * between marks with a tag from a header, and closes the connection; a proxy may hide the close.
 * @returns undefined for a server before 25.11, which only closes the connection
 */
function markOf({ headers }: IncomingMessage): Buffer | undefined {
  const tag = headers['x-clickhouse-exception-tag']
  return tag === undefined ? undefined : Buffer.from(`\r\n__exception__\r\n${tag}`)
}

const textAfter = (mark: Buffer, bytes: Buffer) => bytes.subarray(mark.length).toString().trim()

/** Yields the bytes of a response that may fail in the middle. @throws ClickHouseError; its text is not yielded */
export async function* untilException(chunks: AsyncIterable<Buffer>, response: IncomingMessage) {
  const mark = markOf(response)
  if (!mark) {
    yield* chunks
    return
  }
  let held: Buffer = Buffer.alloc(0)
  let tail: Buffer[] | undefined
  try {
    for await (const chunk of chunks) {
      if (tail) {
        tail.push(chunk)
        continue
      }
      const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      const at = bytes.indexOf(mark)
      const end = at === -1 ? possibleStart(bytes, mark.length) : at
      if (end > 0) yield end === bytes.length ? bytes : bytes.subarray(0, end)
      held = bytes.subarray(end)
      if (at !== -1) tail = [bytes.subarray(at)]
    }
  } catch (error) {
    if (!tail) throw error
  }
  if (tail) throw parseError(textAfter(mark, Buffer.concat(tail)))
  if (held.length > 0) yield held
}

/** @returns the offset where an incomplete mark may begin, else the end of the bytes */
function possibleStart(bytes: Buffer, markLength: number): number {
  const at = bytes.indexOf('\r', Math.max(0, bytes.length - markLength + 1))
  return at === -1 ? bytes.length : at
}
