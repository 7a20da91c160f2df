import { mappedColumns, shapeOf } from './header.ts'
import { FormatError } from './parsers/fileFormat.ts'
import type { RawRow } from './parsers/ndjsonParser.ts'
import type { Mapping } from './readers/mapping.ts'
import { RowError } from './readers/rowError.ts'
import { partReader, prepare } from './readers/rowReader.ts'
import { readWritten } from './readers/writtenAmounts.ts'
import { dimensionNames } from './resources/cost.ts'
import {
  findTotals,
  isEmptyCell,
  isSubtotal,
  type RowWithoutDimensions,
  type SheetLine,
  SheetSums,
  totalLabel,
} from './totals.ts'

/** What the first pass over a CSV file of costs finds; it stores nothing. */
export type Sheet = Awaited<ReturnType<typeof surveySheet>>

/** What a row sets; an invalid or absent field is missing at run time. */
type CostParts = { id: string; cost: bigint; currency: string; spentDay: number }

const dimensions: ReadonlySet<string> = new Set(dimensionNames)

/**
 * Reads all rows of a sheet, and decides what needs all of them.
 * @param own currency of the account
 * @returns the lines of totals, which are not stored; what the summary says of the sheet; whether an amount can only be read with a decimal
 *   comma; local days of the other rows, days since 1970; the fields that its columns have
 * @throws FormatError for one constant exchange rate of several currencies, an id of several costs, and ids and times that `--replace-days` sets
 */
export async function surveySheet(blocks: AsyncIterable<RawRow[]>, mapping: Mapping, own: string) {
  const prepared = prepare<Record<string, unknown>>(shapeOf('costs'), {}, { ...mapping, from: 'cells' })
  const { columns, template } = prepared
  const readPart = partReader<CostParts>(['cost', 'currency', 'spentAt', 'id'], prepared)
  const ofMap = mappedColumns(mapping).filter((column) => columns.get(column)?.some(({ name }) => dimensions.has(name)))
  const findsTotals = ofMap.length > 0 && !mapping.keepTotals
  const [sums, days, foreign] = [new SheetSums(), new Set<number>(), new Set<string>()]
  const [without, subtotals]: [RowWithoutDimensions[], SheetLine[]] = [[], []]
  const keyOfId = new Map<string, string>()
  let hasCommas = false
  let names: readonly string[] = []
  for await (const rows of blocks) {
    for (const { line, fields } of rows) {
      if (fields instanceof RowError) continue
      if (names.length === 0) names = Object.keys(fields)
      const { read, texts } = readPart(fields)
      const { id, cost: amount, spentDay: day } = read
      const { cost = '', currency: code = '' } = texts
      hasCommas ||= readWritten(cost, 'comma') !== undefined && readWritten(cost, 'point') === undefined
      const currency = read.currency ?? (isEmptyCell(code) ? (template.currency as string | undefined) : code)
      if (amount !== 0n && currency !== undefined && currency !== own) foreign.add(currency)
      const cells = ofMap.map((column) => `${fields[column]}`)
      const key = `${[day, ...cells]}`
      if (findsTotals && cells.every(isEmptyCell)) {
        // A row without a time is not stored, so it is safe to take a label from any of its cells.
        const label = totalLabel(day === undefined ? Object.values(fields).map(String) : cells)
        without.push({ line, label, amount, currency, day })
      } else if (findsTotals && cells.some(isSubtotal)) subtotals.push({ line })
      else {
        if (day !== undefined) days.add(day)
        if (amount !== undefined) sums.add(currency ?? own, day, amount)
        // A row without a time is not stored.
        if (id === undefined || (day ?? template.spentDay) === undefined) continue
        if ((keyOfId.get(id) ?? key) !== key)
          throw new FormatError(
            `line ${line} has the id ${id} of another cost; a column of such ids must not set id (--map id= for a column id)`,
          )
        if (mapping.map.length > 0) keyOfId.set(id, key)
      }
    }
  }
  if (template.exchangeRate && foreign.size > 1) {
    const codes = [...foreign]
    const rates = codes.map((code) => `${code}=RATE`).join()
    throw new FormatError(`it has amounts in ${codes.join(' and ')}; instead of one exchangeRate use --rates ${rates}`)
  }
  const found = findTotals(without, sums, subtotals)
  for (const { line, day } of without) if (day !== undefined && !found.totals.has(line)) days.add(day)
  const fields = new Set(names.flatMap((name) => columns.get(name) ?? []).map(({ name }) => name))
  if (mapping.replaceDays && (fields.has('id') || fields.has('updatedAt')))
    throw new FormatError('it has the column id or updatedAt, which --replace-days sets itself; remove it')
  return { ...found, hasCommas, days, fields }
}
