/**
 * Hands on the bytes of an answer that may break off in the middle. ClickHouse then writes what went wrong behind the
 * rows, between two marks whose tag it gave in a header, and cuts the connection; a proxy in between may hide the cut.
 * @param tag `X-ClickHouse-Exception-Tag` of the answer; empty from a server before 25.11, which only cuts
 * @param asError makes an error of that text
 * @throws what `asError` makes; none of the text is handed on
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
  /** What may be the beginning of the mark. */
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

/** @returns where a mark may begin whose end is still to come, else the end of the bytes */
function possibleStart(bytes: Buffer, markLength: number): number {
  const at = bytes.indexOf('\r', Math.max(0, bytes.length - markLength + 1))
  return at === -1 ? bytes.length : at
}
