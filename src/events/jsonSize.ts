/** Whether a value has at most this many bytes as JSON. A value nested so deeply that it cannot be written counts as larger. */
export function isJsonWithin(value: object, bytesMax: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= bytesMax
  } catch {
    // The stack overflows at about 4,000 levels.
    return false
  }
}
