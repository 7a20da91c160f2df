import { RowError } from '../readers/rowError.ts'
import { inBatches } from './batches.ts'
import { type Delimiter, delimiters, FormatError } from './fileFormat.ts'
import { type Line, lineBytesMax } from './lines.ts'
import { type RawRow, withoutReturn } from './ndjsonParser.ts'

/** Networks write the name of a report, its range and its filters before the header. */
const headerLines = 20

/** Lines of text after the rows: the time of the report, and its filters. */
const closingMax = 100

const unterminatedQuote = 'has a quoted cell without a closing quote'

export interface CsvOptions {
  /** Undefined: recognized by the header. */
  delimiter: Delimiter | undefined
  /** Columns of the header, which is the first of the first 20 lines that has all of them; unless given, it is the first line. */
  columns?: readonly string[]
  /** Called with the names of the header, and its line, before any row is read. @returns cells up to the last required one @throws FormatError */
  checkHeader(names: readonly string[], line: number): number
  /** Receives a sentence about lines before the header, and after the rows, that are not read. */
  onSkipped?(sentence: string): void
}

/**
 * Reads CSV (RFC 4180): the first record is the header, quoted cells may contain delimiters, quotes and line feeds. A first
 * line `sep=;`, which tells Excel the delimiter, comes before the header. Rows whose cells are all blank are blank lines. With `columns`,
 * lines that end the file after a blank line, or with a sign of copyright, are not read if they end before a required cell.
 * A record with a stray or missing quote is rejected alone: reading continues at the line after its first one, so that
 * no other row is lost. Each line is scanned at most twice: a line after the first one of such a record either is complete
 * or is malformed, unless it has an odd number of quotes, which only the last line can have.
 * @throws FormatError when the header is invalid, or the delimiter of `sep=` is not supported
 */
export async function* readCsv(
  blocks: AsyncIterable<Line[]>,
  { delimiter: given, columns = [], checkHeader, onSkipped }: CsvOptions,
): AsyncGenerator<RawRow[]> {
  let names: string[] | undefined
  let delimiter = given
  let open: OpenRecord | undefined
  /** The first lines, until the header is found. */
  let head: Line[] | undefined = []
  let isAfterBlank = false
  let cellsMin = 0
  /** Rows after a blank line that end before a required cell. */
  const closing: RawRow[] = []

  /** Processes one line; called again for the lines of a record with a quoted cell that is never closed. */
  function* take(line: Line): Generator<RawRow> {
    if (line.error !== undefined) {
      yield* giveUp()
      if (!names) throw new FormatError(`line ${line.number} ${line.error}`)
      yield { line: line.number, text: withoutReturn(line.text), fields: new RowError(line.error) }
      return
    }
    if (line.text.trim() !== '') delimiter ??= delimiterOf(line.text)
    open ??= newRecord()
    const { lines } = open
    lines.push(line)
    open.length += line.text.length + 1
    const cells = open.length <= lineBytesMax ? readCells(open, line.text, delimiter ?? ',') : unterminatedQuote
    if (cells === undefined) return
    if (typeof cells === 'string') {
      // In a later line, a malformed end belongs to a cell of another record.
      yield* giveUp(lines.length > 1 ? unterminatedQuote : cells)
      return
    }
    open = undefined
    const text = lines.length > 1 ? lines.map((part) => part.text).join('\n') : line.text
    const [first = line] = lines
    if (isBlank(cells)) isAfterBlank = columns.length > 0
    else yield* rowOf(first.number, withoutReturn(text), cells)
  }

  /** Rejects the first line of the open record and processes the others again. */
  function* giveUp(reason = unterminatedQuote): Generator<RawRow> {
    const [first, ...others] = open?.lines ?? []
    open = undefined
    if (!first) return
    if (!names) throw new FormatError(`line ${first.number} ${reason}`)
    yield { line: first.number, text: withoutReturn(first.text), fields: new RowError(reason) }
    for (const line of others) yield* take(line)
  }

  function* rowOf(line: number, text: string, cells: string[]): Generator<RawRow> {
    if (!names) {
      names = cells.map((cell) => cell.trim())
      cellsMin = Math.min(names.length, Math.max(2, checkHeader(names, line)))
      return
    }
    const header = names
    const fields =
      cells.length >= header.length && isBlank(cells.slice(header.length))
        ? Object.fromEntries(header.map((name, index) => [name, cells[index]]))
        : new RowError(`has ${cells.length} cells, but the header has ${header.length}`)
    isAfterBlank ||= columns.length > 0 && /^\s*(?:[©@]|\(c\))/i.test(cells[0] ?? '')
    if (isAfterBlank && cells.length < cellsMin && closing.length < closingMax) {
      closing.push({ line, text, fields })
      return
    }
    isAfterBlank = false
    yield* closing.splice(0)
    yield { line, text, fields }
  }

  function* takeAll(lines: readonly Line[]): Generator<RawRow> {
    for (const line of lines) yield* take(line)
  }

  function* takeFromHeader(lines: readonly Line[]): Generator<RawRow> {
    const marked = lines[0] && delimiterNamedBy(lines[0].text)
    const start = findHeader(marked ? lines.slice(1) : lines, columns, given ?? marked)
    const first = lines.find(({ text, number }) => text.trim() !== '' && number > (marked ? 1 : 0))?.number ?? start
    if (start > first) onSkipped?.(notRead(first, start - 1, 'before the header'))
    delimiter ??= marked
    yield* takeAll(lines.slice(Math.max(start - 1, marked ? 1 : 0)))
  }

  for await (const lines of blocks) {
    if (!head) yield* inBatches(takeAll(lines))
    else if (head.push(...lines) >= headerLines) {
      const first = head
      head = undefined
      yield* inBatches(takeFromHeader(first))
    }
  }
  if (head) yield* inBatches(takeFromHeader(head))
  while (open) yield* inBatches(giveUp())
  const [first, last] = [closing[0], closing.at(-1)]
  if (first && last) onSkipped?.(notRead(first.line, last.line, 'after the rows'))
}

const isBlank = (cells: readonly string[]) => cells.every((cell) => cell.trim() === '')

const notRead = (first: number, last: number, where: string) =>
  first === last ? `line ${first} ${where} was not read` : `lines ${first} to ${last} ${where} were not read`

/**
 * Finds the header of a sheet: the first of the first 20 lines that has all columns, else the line that has most of them.
 * @returns the number of the line; the number of the first line if none has a column
 */
function findHeader(lines: readonly Line[], columns: readonly string[], delimiter: Delimiter | undefined): number {
  let best = { line: lines[0]?.number ?? 1, found: 0 }
  for (const { number, text } of lines.slice(0, headerLines)) {
    const names = namesOf(text, delimiter) ?? []
    const found = columns.filter((column) => names.includes(column)).length
    if (found > best.found) best = { line: number, found }
  }
  return best.line
}

/** @returns the names of a line that is a header; undefined if it is malformed, or continues in the next line */
function namesOf(text: string, delimiter = delimiterOf(text)): string[] | undefined {
  const cells = readCells(newRecord(), text, delimiter)
  return typeof cells === 'string' ? undefined : cells?.map((cell) => cell.trim())
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

/** A record whose last line is not read yet. */
type OpenRecord = ReturnType<typeof newRecord>

/** `length` is the characters of the lines, with their line feeds; `quoted` has the lines of the quoted cell that is open, if one is. */
const newRecord = () => ({
  lines: [] as Line[],
  length: 0,
  cells: [] as string[],
  quoted: undefined as string[] | undefined,
})

/**
 * Reads the cells of the next line of a record.
 * @returns all cells of the record, a reason when it is malformed, or undefined when it continues in the next line
 */
function readCells(record: OpenRecord, line: string, delimiter: Delimiter): string[] | string | undefined {
  const { cells } = record
  if (!record.quoted && !line.includes('"')) return withoutReturn(line).split(delimiter)
  const end = withoutReturn(line).length
  for (let at = 0; ; at += 1) {
    if (!record.quoted && line[at] === '"') {
      record.quoted = []
      at += 1
    }
    if (record.quoted) {
      const close = closingQuote(line, at)
      record.quoted.push(line.slice(at, close))
      if (close === undefined) return undefined
      cells.push(record.quoted.join('\n').replaceAll('""', '"'))
      record.quoted = undefined
      at = close + 1
      if (at < end && line[at] !== delimiter) return 'has text after the closing quote of a cell'
    } else {
      const next = line.indexOf(delimiter, at)
      const cell = line.slice(at, next === -1 ? end : next)
      // Excel writes and reads a text such as ="401" without quotes around it.
      if (cell.includes('"') && !/^="[^"]*"$/.test(cell)) return 'has a quote inside a cell that is not quoted'
      cells.push(cell)
      at += cell.length
    }
    if (at >= end) return cells
  }
}

/** @returns position of the first quote from `at` on that is not doubled; undefined: there is none */
function closingQuote(line: string, at: number): number | undefined {
  let quote = line.indexOf('"', at)
  while (quote !== -1 && line[quote + 1] === '"') quote = line.indexOf('"', quote + 2)
  return quote === -1 ? undefined : quote
}
