/** @param stored absent text is the empty string */
export function toText(stored: string): string | null {
  return stored || null
}
