type Json = Record<string, unknown>

/**
 * The text of a response for a model: one line with what the response says beside its rows, then the names of the columns, then a line for
 * each row. Absent values are empty, and columns without values are left out.
 */
export function resultText({ data, ...rest }: Json): string {
  if (!Array.isArray(data) || data.length === 0) return visible(jsonOf({ data, ...rest }))
  const rows = data.map((row: Json) => new Map(cellsOf(row)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))].filter((name) => !repeats(name, rest.groupBy))
  const lines = rows.map((row) => names.map((name) => cellText(row.get(name))).join(','))
  return visible([jsonOf(rest), names.map(cellText).join(','), ...lines].join('\n'))
}

const jsonOf = (value: Json): string => JSON.stringify(value, (_name, part) => part ?? undefined)

/** Whether a column of a report repeats others: of one dimension `dimensions`, of several the id and name that join theirs. */
function repeats(name: string, groupBy: unknown): boolean {
  if (groupBy === undefined) return false
  return `${groupBy}`.includes(',') ? /^(previous\.)?(id|name)$/.test(name) : name.startsWith('dimensions.')
}

/** The values of a row, those of an object under names such as `previous.clicks`. The properties of an event stay one value. */
function cellsOf(row: Json, prefix = ''): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || value === undefined) return []
    const isObject = typeof value === 'object' && !Array.isArray(value) && name !== 'properties'
    return isObject ? cellsOf(value as Json, `${prefix}${name}.`) : [[prefix + name, value]]
  })
}

/** The value of a cell. A text that could be mistaken for something else is in quotes, as in JSON. */
function cellText(value: unknown): string {
  if (value === undefined) return ''
  const isPlain = typeof value === 'string' && /^[^\s,"\\[{][^,"\\\n]*$/.test(value) && value === value.trim()
  return isPlain && visible(value) === value ? value : JSON.stringify(value)
}

/** Characters without a glyph, except the line feed: they can carry words that only a model reads. */
const invisible = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

// Without the flag u, a match is one UTF-16 unit.
const escaped = (character: string): string =>
  character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Escapes invisible characters, which are within texts of JSON. */
const visible = (text: string): string => text.replace(invisible, escaped)
