/** Whether a text has more than `max` code points. An emoji is one code point and two UTF-16 units. */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false
  return text.length > 2 * max || [...text].length > max
}
