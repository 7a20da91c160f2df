/**
 * Returns text of a file in a form that is safe on a terminal: a tab becomes a space; other invisible characters, escape
 * sequences among them, become U+FFFD.
 * @param charactersMax longer text is truncated
 */
export function printable(text: string, charactersMax: number): string {
  const visible = text
    .slice(0, charactersMax + 1)
    .replaceAll('\t', ' ')
    .replace(/\p{C}/gu, '\ufffd')
  return visible.length > charactersMax ? `${visible.slice(0, charactersMax)}…` : visible
}
