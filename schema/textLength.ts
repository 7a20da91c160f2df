/** Whether a text is longer than so many characters, as a reader counts them: an emoji is one, and two UTF-16 units. */
export function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false
  return text.length > 2 * most || [...text].length > most
}
