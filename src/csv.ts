/** A value of a CSV cell; null is an empty one. */
export type Cell = string | number | boolean | null

/** Writes a table as ClickHouse would: texts in quotes, absent values empty, lines ended by a line feed. */
export function toCsv<Name extends string>(names: readonly Name[], rows: readonly Record<Name, Cell>[]): string {
  const lines = [names.map(quoted), ...rows.map((row) => names.map((name) => cellOf(row[name])))]
  return lines.map((cells) => `${cells.join(',')}\n`).join('')
}

function cellOf(value: Cell): string {
  return typeof value === 'string' ? quoted(value) : `${value ?? ''}`
}

export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
