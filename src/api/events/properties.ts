import { propertyLimits } from '../../../schema/event.ts'
import { isLonger } from '../../../schema/textLength.ts'

type Kept = string | number | boolean

/** Half of a surrogate pair without the other: UTF-8 has no form for it. */
const loneSurrogate = /\p{Surrogate}/gu

/**
 * Keeps what may be kept of an event's properties: the first 20 keys whose name and value are within the limits.
 * Nothing is refused, what may not stay is dropped.
 * @returns JSON text of an object, empty when nothing is left
 */
export function keepProperties(given: unknown): string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return ''
  if (!isWrittenWithin(given, propertyLimits.bytesMax)) return ''
  // Without a prototype, so that no key has a meaning of its own.
  const kept: Record<string, Kept> = Object.create(null)
  let count = 0
  for (const [key, value] of Object.entries(given)) {
    if (count === propertyLimits.keysMax) break
    if (key === 'constructor' || isLonger(key, propertyLimits.keyLengthMax) || !isKept(value)) continue
    kept[wellFormed(key)] = typeof value === 'string' ? wellFormed(value) : value
    count += 1
  }
  return count === 0 ? '' : JSON.stringify(kept)
}

function isKept(value: unknown): value is Kept {
  if (typeof value === 'string') return !isLonger(value, propertyLimits.textLengthMax)
  return typeof value === 'boolean' || Number.isFinite(value)
}

function wellFormed(text: string): string {
  return text.replace(loneSurrogate, '\ufffd')
}

/**
 * Whether a value of JSON.parse takes at most so many bytes as JSON in UTF-8. Looks at no more of it than that, and
 * never descends by calling itself: JSON.stringify runs out of stack some 4,000 levels deep.
 */
function isWrittenWithin(value: object, mostBytes: number): boolean {
  const open: unknown[] = [value]
  let bytes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) {
      // A text of n units takes n bytes at least, so a long one need not be written to be refused.
      if (typeof next === 'string' && next.length > mostBytes) return false
      bytes += Buffer.byteLength(JSON.stringify(next))
    } else if (Array.isArray(next)) {
      bytes += 2 + Math.max(0, next.length - 1)
      if (bytes <= mostBytes) for (const item of next) open.push(item)
    } else {
      const keys = Object.keys(next)
      bytes += 2 + Math.max(0, keys.length - 1)
      for (const key of keys) {
        bytes += Buffer.byteLength(JSON.stringify(key)) + 1
        if (bytes > mostBytes) return false
        open.push((next as Record<string, unknown>)[key])
      }
    }
    if (bytes > mostBytes) return false
  }
  return true
}
