/**
 * Hands on the bytes of an answer that may break off in the middle. ClickHouse then writes what went wrong behind the
 * rows, between two marks whose tag it gave in a header, and cuts the connection; a proxy in between may hide the cut.
 * @param tag `X-ClickHouse-Exception-Tag` of the answer
 * @param asError makes an error of that text
 * @throws what `asError` makes; none of the text is handed on
 */
export async function* untilException(
  chunks: AsyncIterable<Buffer>,
  tag: string,
  asError: (text: string) => unknown,
): AsyncGenerator<Buffer> {
  const mark = Buffer.from(`\r\n__exception__\r\n${tag}`)
  /** What may be the beginning of the mark. */
  let held = Buffer.alloc(0)
  let text: Buffer[] | undefined
  try {
    for await (const chunk of chunks) {
      if (text) {
        text.push(chunk)
        continue
      }
      const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      const at = bytes.indexOf(mark)
      const end = at === -1 ? Math.max(0, bytes.length - mark.length + 1) : at
      if (end > 0) yield bytes.subarray(0, end)
      if (at === -1) held = Buffer.from(bytes.subarray(end))
      else text = [bytes.subarray(at + mark.length)]
    }
  } catch (error) {
    if (!text) throw error
  }
  if (text) throw asError(Buffer.concat(text).toString())
  if (held.length > 0) yield held
}
