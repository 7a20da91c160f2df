import { isUtf8 } from 'node:buffer'

/** One line of a file, without its line feed. */
export interface Line {
  /** From 1. */
  number: number
  /** The line; if it is invalid, only its beginning, with U+FFFD in place of bytes that are not UTF-8. */
  text: string
  error?: string
  /** Whether the file ends without a line feed after it. */
  isUnfinished?: true
}

/** Far above the size of any valid row; without a limit a file without line feeds would exhaust memory. */
export const lineBytesMax = 1 << 20

/** Bytes of an invalid line that the rejects file shows. */
const shownBytes = 4_096

const lineFeed = 10

/**
 * Splits bytes into lines, in constant memory. A byte order mark at the start is removed, and no empty line follows a line
 * feed at the end. A line that is too long or not UTF-8 has `error` set.
 * @param chunks of any sizes
 * @param bytesMax limit of a line
 * @returns the lines that each chunk completes, in order
 */
export async function* splitIntoLines(chunks: AsyncIterable<Buffer>, bytesMax = lineBytesMax): AsyncGenerator<Line[]> {
  /** Bytes after the last line feed: at most `bytesMax` and one chunk. */
  let rest: Buffer[] = []
  let restBytes = 0
  let count = 0

  function complete(block: Buffer): Line[] {
    const lines = splitBlock(block, bytesMax, count + 1)
    count += lines.length
    rest = []
    restBytes = 0
    return lines
  }

  for await (const chunk of chunks) {
    let bytes = chunk
    if (restBytes > bytesMax) {
      const end = bytes.indexOf(lineFeed)
      if (end === -1) continue
      yield complete(Buffer.concat(rest))
      bytes = bytes.subarray(end + 1)
    }
    const end = bytes.lastIndexOf(lineFeed)
    if (end !== -1) {
      yield complete(Buffer.concat([...rest, bytes.subarray(0, end)]))
      bytes = bytes.subarray(end + 1)
    }
    rest.push(bytes)
    restBytes += bytes.length
  }
  if (restBytes > 0) yield complete(Buffer.concat(rest)).map((line) => ({ ...line, isUnfinished: true }))
}

/** @returns the lines of a text as `splitIntoLines` has them; an empty line follows a line feed at the end @param first number of the first line */
export function splitBlock(block: Buffer, bytesMax: number, first = 1): Line[] {
  const bytes = first === 1 && block.subarray(0, 3).equals(byteOrderMark) ? block.subarray(3) : block
  if (isUtf8(bytes) && bytes.length <= bytesMax) {
    return bytes
      .toString('utf8')
      .split('\n')
      .map((text, index) => ({ number: first + index, text }))
  }
  const lines: Line[] = []
  for (let start = 0; start <= bytes.length; ) {
    const feed = bytes.indexOf(lineFeed, start)
    const end = feed === -1 ? bytes.length : feed
    lines.push(readLine(bytes.subarray(start, end), bytesMax, first + lines.length))
    start = end + 1
  }
  return lines
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function readLine(bytes: Buffer, bytesMax: number, number: number): Line {
  const beginning = () => bytes.subarray(0, shownBytes).toString('utf8')
  if (bytes.length > bytesMax) return { number, text: beginning(), error: `is longer than ${bytesMax} bytes` }
  if (!isUtf8(bytes)) return { number, text: beginning(), error: 'is not UTF-8' }
  return { number, text: bytes.toString('utf8') }
}
