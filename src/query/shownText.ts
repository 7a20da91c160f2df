import { createHash } from 'node:crypto'
import { ch, count, type Fragment } from '../stores/clickhouse/sql.ts'

/** Bytes of UTF-8 up to which a text is shown whole. */
const wholeBytesMax = 256
/** Bytes of the first characters of a longer text. */
const startBytesMax = 220
const digestBytes = 16

/**
 * The form of a text in responses that group by it: a text above 256 bytes is its first whole characters within 220 bytes, `…` and
 * 32 hex digits of its SHA-256, so no response grows with the texts of visitors.
 */
export function shownText(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= wholeBytesMax) return text
  let length = startBytesMax
  // The bytes 10xxxxxx continue a character.
  while (((bytes[length] as number) & 0xc0) === 0x80) length -= 1
  const digest = createHash('sha256').update(bytes).digest('hex')
  return `${bytes.subarray(0, length)}…${digest.slice(0, 2 * digestBytes)}`
}

/** Whether a text may be the shown form of a longer one. */
export function mayBeShortened(text: string): boolean {
  return /…[0-9a-f]{32}$/.test(text) && Buffer.byteLength(text) <= wholeBytesMax
}

/** @returns the condition that `shownText` shortens the value of an expression */
export const isLong = (value: Fragment): Fragment => ch`length(${value}) > ${count(wholeBytesMax)}`

/** @returns `shownText` of the value of an expression that is long; a character that ends after 220 bytes is the last one in 221 */
export function shortened(value: Fragment): Fragment {
  const start = ch`leftUTF8(left(${value}, ${count(startBytesMax + 1)}), -1)`
  return ch`concat(${start}, '…', lower(hex(left(SHA256(${value}), ${count(digestBytes)}))))`
}
