import { type Delimiter, delimiters } from '../fileFormat.ts'
import { RowError } from '../rowError.ts'
import { FormatError } from './formatError.ts'
import { type Line, lineBytesMax } from './lines.ts'
import { type RawRow, withoutReturn } from './ndjsonParser.ts'

const unterminatedQuote = 'has a quoted cell without a closing quote'

export interface CsvOptions {
  /** Undefined: recognized by the header. */
  delimiter: Delimiter | undefined
  /** Called with the names of the header before any row is read. @throws FormatError */
  checkHeader(names: readonly string[]): void
}

/**
 * Reads CSV (RFC 4180): the first record is the header, quoted cells may contain delimiters, quotes and line feeds. A first
 * line `sep=;`, which tells Excel the delimiter, comes before the header.
 * A record with a stray or missing quote is rejected alone: reading continues at the line after its first one, so that
 * no other row is lost.
 * @throws FormatError when the header is invalid, or the delimiter of `sep=` is not supported
 */
export async function* readCsv(
  blocks: AsyncIterable<Line[]>,
  { delimiter: given, checkHeader }: CsvOptions,
): AsyncGenerator<RawRow[]> {
  let names: string[] | undefined
  let delimiter = given
  /** Lines of a record with an open quoted cell. */
  let open: Line[] = []
  let openBytes = 0

  /** Processes one line; called again for the lines of a record with a quoted cell that is never closed. */
  function* take(line: Line): Generator<RawRow> {
    if (line.error !== undefined) {
      yield* giveUp()
      if (!names) throw new FormatError(`line ${line.number} ${line.error}`)
      yield { line: line.number, text: withoutReturn(line.text), fields: new RowError(line.error) }
      return
    }
    if (line.number === 1) {
      const named = delimiterNamedBy(line.text)
      delimiter ??= named
      if (named) return
    }
    if (line.text.trim() !== '') delimiter ??= delimiterOf(line.text)
    open.push(line)
    openBytes += line.text.length + 1
    if (open.length > 1 && !line.text.includes('"') && openBytes <= lineBytesMax) return
    const record = openBytes <= lineBytesMax ? readRecord(open, delimiter ?? ',') : unterminatedQuote
    if (record === undefined) return
    if (typeof record === 'string') {
      // In a later line, a malformed end belongs to a cell of another record.
      yield* giveUp(open.length > 1 ? unterminatedQuote : record)
      return
    }
    const [first] = open
    const text = open.map((part) => part.text).join('\n')
    open = []
    openBytes = 0
    if (first && !(record.length === 1 && record[0] === '')) yield* rowOf(first.number, withoutReturn(text), record)
  }

  /** Rejects the first of the open lines and processes the others again. */
  function* giveUp(reason = unterminatedQuote): Generator<RawRow> {
    const [first, ...others] = open
    open = []
    openBytes = 0
    if (!first) return
    if (!names) throw new FormatError(`line ${first.number} ${reason}`)
    yield { line: first.number, text: withoutReturn(first.text), fields: new RowError(reason) }
    for (const line of others) yield* take(line)
  }

  function* rowOf(line: number, text: string, cells: string[]): Generator<RawRow> {
    if (!names) {
      names = readHeader(cells)
      checkHeader(names)
      return
    }
    const header = names
    const fields =
      cells.length === header.length
        ? Object.fromEntries(header.map((name, index) => [name, cells[index]]))
        : new RowError(`has ${cells.length} cells, but the header has ${header.length}`)
    yield { line, text, fields }
  }

  for await (const lines of blocks) {
    const rows: RawRow[] = []
    for (const line of lines) for (const row of take(line)) rows.push(row)
    yield rows
  }
  const rows: RawRow[] = []
  while (open.length > 0) for (const row of giveUp()) rows.push(row)
  yield rows
}

/** Returns the delimiter of a line `sep=;`; undefined for other lines. @throws FormatError if it is not supported */
function delimiterNamedBy(line: string): Delimiter | undefined {
  const [, named] = /^sep=(.)\r?$/i.exec(line) ?? []
  if (named === undefined) return undefined
  const known = delimiters.find((delimiter) => delimiter === named)
  if (known) return known
  throw new FormatError(`its first line names the delimiter ${JSON.stringify(named)}; use ",", ";" or a tab`)
}

/** Returns the most frequent delimiter of a header outside quotes; the comma if it has none. */
function delimiterOf(header: string): Delimiter {
  const unquoted = header.replace(/"[^"]*"?/g, '')
  const count = (delimiter: Delimiter) => unquoted.split(delimiter).length
  return ([';', '\t'] as const).reduce<Delimiter>((best, next) => (count(next) > count(best) ? next : best), ',')
}

function readHeader(cells: readonly string[]): string[] {
  const names = cells.map((cell) => cell.trim())
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (names.includes('')) throw new FormatError('its header has a field without a name')
  if (repeated !== undefined) throw new FormatError(`its header names ${JSON.stringify(repeated)} twice`)
  return names
}

/**
 * Reads the cells of a record.
 * @returns cells, a reason when the record is malformed, or undefined when it continues in the next line
 */
function readRecord(lines: readonly Line[], delimiter: Delimiter): string[] | string | undefined {
  const text = withoutReturn(lines.map((line) => line.text).join('\n'))
  if (!text.includes('"')) return text.split(delimiter)
  const cells: string[] = []
  for (let at = 0; ; ) {
    if (text[at] === '"') {
      let end = at
      do {
        end = text.indexOf('"', end + 1)
        if (end === -1) return undefined
      } while (text[++end] === '"')
      if (end < text.length && text[end] !== delimiter) return 'has text after the closing quote of a cell'
      cells.push(text.slice(at + 1, end - 1).replaceAll('""', '"'))
      at = end
    } else {
      const next = text.indexOf(delimiter, at)
      const cell = text.slice(at, next === -1 ? text.length : next)
      if (cell.includes('"')) return 'has a quote inside a cell that is not quoted'
      cells.push(cell)
      at += cell.length
    }
    if (at >= text.length) return cells
    at += 1
  }
}
