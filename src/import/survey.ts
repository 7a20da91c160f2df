import { mappedColumns, shapeOf } from './header.ts'
import { FormatError } from './parsers/fileFormat.ts'
import type { RawRow } from './parsers/ndjsonParser.ts'
import type { Mapping } from './readers/mapping.ts'
import { fieldReader, prepare } from './readers/rowDecoder.ts'
import { RowError } from './readers/rowError.ts'
import { readWritten } from './readers/writtenAmounts.ts'
import { dimensionNames } from './resources/cost.ts'
import { findTotals, isEmptyCell, type RowWithoutDimensions, SheetSums, totalLabel } from './totals.ts'

/** What the first pass over a CSV file of costs finds; it stores nothing. */
export interface Sheet {
  /** Lines of totals, which are not stored. */
  readonly totals: ReadonlySet<number>
  /** Whether an amount can only be read with a decimal comma. */
  readonly hasCommas: boolean
  /** Local days of the other rows, days since 1970. */
  readonly days: ReadonlySet<number>
  /** The fields that its columns have. */
  readonly fields: ReadonlySet<string>
  /** What the summary says of it. */
  readonly sentences: readonly string[]
}

const dimensions: ReadonlySet<string> = new Set(dimensionNames)

/**
 * Reads all rows of a sheet, and decides what needs all of them.
 * @param own currency of the account
 * @throws FormatError for one constant exchange rate of several currencies, and for ids and times that \`--replace-days\` decides
 */
export async function surveySheet(blocks: AsyncIterable<RawRow[]>, mapping: Mapping, own: string): Promise<Sheet> {
  const prepared = prepare<Record<string, unknown>>(shapeOf('costs'), {}, { ...mapping, from: 'cells' })
  const { columns, template } = prepared
  const readCost = fieldReader<bigint>('cost', prepared)
  const readCurrency = fieldReader<string>('currency', prepared)
  const readTime = fieldReader<{ spentDay: number }>('spentAt', prepared)
  const ofMap = mappedColumns(mapping).filter((column) => columns.get(column)?.some(({ name }) => dimensions.has(name)))
  const findsTotals = ofMap.length > 0 && !mapping.keepTotals
  const [sums, days, foreign] = [new SheetSums(), new Set<number>(), new Set<string>()]
  const without: RowWithoutDimensions[] = []
  let hasCommas = false
  let names: readonly string[] = []
  for await (const rows of blocks) {
    for (const { line, fields } of rows) {
      if (fields instanceof RowError) continue
      if (names.length === 0) names = Object.keys(fields)
      const { text, value: amount } = readCost(fields)
      hasCommas ||= readWritten(text, 'comma') !== undefined && readWritten(text, 'point') === undefined
      const given = readCurrency(fields)
      const currency = given.value ?? (isEmptyCell(given.text) ? (template.currency as string | undefined) : given.text)
      if (amount !== 0n && currency !== undefined && currency !== own) foreign.add(currency)
      const day = readTime(fields).value?.spentDay
      const cells = ofMap.map((column) => `${fields[column]}`)
      if (findsTotals && cells.every(isEmptyCell)) {
        // A row without a time is not stored, so it is safe to take a label from any of its cells.
        const label = totalLabel(day === undefined ? Object.values(fields).map(String) : cells)
        without.push({ line, label, amount, currency, day })
      } else {
        if (day !== undefined) days.add(day)
        if (amount !== undefined) sums.add(currency ?? own, day, amount)
      }
    }
  }
  if (template.exchangeRate && foreign.size > 1) {
    const rates = [...foreign].map((currency) => `${currency}=RATE`).join()
    throw new FormatError(
      `it has amounts in ${[...foreign].join(' and ')}; instead of one exchangeRate use --rates ${rates}`,
    )
  }
  const found = findTotals(without, sums)
  for (const { line, day } of without) if (day !== undefined && !found.totals.has(line)) days.add(day)
  const fields = new Set(names.flatMap((name) => columns.get(name) ?? []).map(({ name }) => name))
  if (mapping.replaceDays && (fields.has('id') || fields.has('updatedAt')))
    throw new FormatError(
      'it has the column id or updatedAt, but --replace-days derives ids and has the time of --updated-at; remove it',
    )
  return { ...found, hasCommas, days, fields }
}
