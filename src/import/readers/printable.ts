/** Characters of a value, or of the name of a column, that a message shows. */
export const shownCharacters = 64

/**
 * Returns text in a form that is safe on a terminal and takes one line: a tab becomes a space; other invisible characters,
 * line feeds and escape sequences among them, are written as in JSON, `\u001b`.
 * @param charactersMax longer text is truncated
 */
export function printable(text: string, charactersMax = Number.POSITIVE_INFINITY): string {
  const visible = text
    .slice(0, charactersMax)
    .replaceAll('\t', ' ')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, inHexadecimal)
  return text.length > charactersMax ? `${visible}…` : visible
}

export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n')
}

function inHexadecimal(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
