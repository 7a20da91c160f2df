/**
 * Yields the bytes of a response that may fail in the middle. ClickHouse then writes the error after the rows, between two
 * marks with a tag from a header, and closes the connection; a proxy may hide the close.
 * @param tag `X-ClickHouse-Exception-Tag` of the response; empty from a server before 25.11, which only closes
 * @param asError converts the text to an error
 * @throws the result of `asError`; the text itself is not yielded
 */
export async function* untilException(
  chunks: AsyncIterable<Buffer>,
  tag: string,
  asError: (text: string) => unknown,
): AsyncGenerator<Buffer> {
  if (tag === '') {
    yield* chunks
    return
  }
  const mark = Buffer.from(`\r\n__exception__\r\n${tag}`)
  /** A possible beginning of the mark. */
  let held: Buffer = Buffer.alloc(0)
  let text: Buffer[] | undefined
  try {
    for await (const chunk of chunks) {
      if (text) {
        text.push(chunk)
        continue
      }
      const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      const at = bytes.indexOf(mark)
      const end = at === -1 ? possibleStart(bytes, mark.length) : at
      if (end > 0) yield end === bytes.length ? bytes : bytes.subarray(0, end)
      held = bytes.subarray(end)
      if (at !== -1) text = [bytes.subarray(at + mark.length)]
    }
  } catch (error) {
    if (!text) throw error
  }
  if (text) throw asError(Buffer.concat(text).toString())
  if (held.length > 0) yield held
}

/** @returns the offset where an incomplete mark may begin, else the end of the bytes */
function possibleStart(bytes: Buffer, markLength: number): number {
  const at = bytes.indexOf('\r', Math.max(0, bytes.length - markLength + 1))
  return at === -1 ? bytes.length : at
}
