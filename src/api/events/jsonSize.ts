/**
 * Whether a value of JSON.parse has at most this number of bytes as JSON in UTF-8. It reads no more than that, and is not
 * recursive: JSON.stringify overflows the stack at about 4,000 levels.
 */
export function isJsonWithin(value: object, bytesMax: number): boolean {
  const open: unknown[] = [value]
  let bytes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) {
      // A string of n code units has at least n bytes.
      if (typeof next === 'string' && next.length > bytesMax) return false
      bytes += Buffer.byteLength(JSON.stringify(next))
    } else if (Array.isArray(next)) {
      bytes += 2 + Math.max(0, next.length - 1)
      if (bytes <= bytesMax) for (const item of next) open.push(item)
    } else {
      const keys = Object.keys(next)
      bytes += 2 + Math.max(0, keys.length - 1)
      for (const key of keys) {
        bytes += Buffer.byteLength(JSON.stringify(key)) + 1
        if (bytes > bytesMax) return false
        open.push((next as Record<string, unknown>)[key])
      }
    }
    if (bytes > bytesMax) return false
  }
  return true
}
