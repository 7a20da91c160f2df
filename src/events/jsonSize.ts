/** Whether a value has at most this many bytes as JSON. Not recursive: JSON.stringify overflows the stack at about 4,000 levels. */
export function isJsonWithin(value: object, bytesMax: number): boolean {
  return isWithin(value, bytesMax, atMost) || isWithin(value, bytesMax, exactly)
}

/** The bytes of a text, number, boolean or null as JSON. */
type BytesOf = (value: unknown) => number

const exactly: BytesOf = (value) => Buffer.byteLength(JSON.stringify(value))

/** Without encoding: an escaped code unit takes 6 bytes, a number at most 24. */
const atMost: BytesOf = (value) => (typeof value === 'string' ? 6 * value.length + 2 : 24)

function isWithin(value: object, bytesMax: number, bytesOf: BytesOf): boolean {
  const open: unknown[] = [value]
  let bytes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) {
      // A string of n code units has at least n bytes.
      if (typeof next === 'string' && next.length > bytesMax) return false
      bytes += bytesOf(next)
    } else if (Array.isArray(next)) {
      bytes += 2 + Math.max(0, next.length - 1)
      if (bytes <= bytesMax) for (const item of next) open.push(item)
    } else {
      const keys = Object.keys(next)
      bytes += 2 + Math.max(0, keys.length - 1)
      for (const key of keys) {
        bytes += bytesOf(key) + 1
        if (bytes > bytesMax) return false
        open.push((next as Record<string, unknown>)[key])
      }
    }
    if (bytes > bytesMax) return false
  }
  return true
}
