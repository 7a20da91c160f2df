export type FilterValues = { values: readonly string[]; isExcluded: boolean }

/** Writes the value of a filter parameter; the API reads `,`, `\` and a leading `!` literally after a `\`. */
export function formatFilter({ values, isExcluded }: FilterValues): string {
  const text = values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',')
  if (isExcluded) return `!${text}`
  return text.startsWith('!') ? `\\${text}` : text
}

/** Reads the value of a filter parameter; the inverse of `formatFilter`. The API checks it. */
export function parseFilter(text: string): FilterValues {
  const isExcluded = text.startsWith('!')
  const values = ['']
  for (const [, escaped, letter = ''] of text.slice(isExcluded ? 1 : 0).matchAll(/\\(.)|(.)/gsu)) {
    if (letter === ',') values.push('')
    else values.push(`${values.pop()}${escaped ?? letter}`)
  }
  return { values, isExcluded }
}
