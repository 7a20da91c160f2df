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

/** Yields the bytes of a response that may fail in the middle. @throws ClickHouseError; its text is not yielded */
export async function* untilException(chunks: AsyncIterable<Buffer>, response: IncomingMessage) {
  const mark = markOf(response)
  if (!mark) {
    yield* chunks
    return
  }
  let held: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of chunks) {
      const bytes = Buffer.concat([held, chunk])
      const at = bytes.indexOf(mark)
      // The last bytes may be the beginning of the mark.
      const end = at === -1 ? Math.max(0, bytes.length - mark.length + 1) : at
      if (end > 0) yield bytes.subarray(0, end)
      held = bytes.subarray(end)
    }
  } catch (error) {
    if (!held.includes(mark)) throw error
  }
  if (held.includes(mark)) throw parseError(held.subarray(mark.length).toString().trim())
  if (held.length > 0) yield held
}
