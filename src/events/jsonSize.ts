import { unmark } from './inexactNumbers.ts'

/**
 * Whether a value has at most this many bytes as JSON, with marked numbers as doubles. A value nested so deeply that it
 * cannot be written counts as larger.
 */
export function isJsonWithin(value: object, bytesMax: number): boolean {
  try {
    const json = JSON.stringify(value)
    // A marked number is longer than its double.
    return Buffer.byteLength(json) <= bytesMax || Buffer.byteLength(unmark(json)) <= bytesMax
  } catch {
    // The stack overflows at about 4,000 levels.
    return false
  }
}
