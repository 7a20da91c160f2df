import { createHash } from 'node:crypto'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { costFields } from '../../stores/clickhouse/tableColumns.ts'
import { importedFields } from '../../writer/tables/changingFields.ts'
import { type Cost, costRowFields } from '../../writer/tables/cost.ts'
import type { Given } from '../../writer/tables/givenFields.ts'
import { type AmountFields, baseAmount, blankAmount } from '../readers/amounts.ts'
import { typesOf, unstored } from '../readers/fieldTypes.ts'
import { subIdFields } from '../readers/objects.ts'
import { RowError } from '../readers/rowError.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowReader.ts'
import { spentAt, spentUntil } from '../readers/times.ts'

/** A cost that was read. */
export interface ReadCost extends Cost, Given, AmountFields {
  /** As the file gives it; see `spentAtType`. */
  givenTime: string
  /** Local day, days since 1970. */
  spentDay: number
  /** Local day of `spentUntil`; null: absent. */
  untilDay: number | null
  /** Whether its id is derived from its time and its dimensions. */
  hasDerivedId: boolean
}

export const costShape: RowShape<ReadCost> = {
  name: 'costs',
  required: ['spentAt', 'cost'],
  ignored: unstored,
  fields: typesOf(costFields) as RowShape<ReadCost>['fields'],
  spread: { ...subIdFields, spentAt, spentUntil },
}

/** Rows that `account export` wrote have `importedFields` too. */
const exportedShape = { ...costShape, fields: { ...costShape.fields, ...typesOf(importedFields) } }

const { id: _id, spentAt: _spentAt, updatedAt: _updatedAt, cost: _cost, currency: _currency, ...rest } = costFields
const { costBase: _costBase, ...dimensions } = rest
export const dimensionNames = Object.keys(dimensions) as (keyof typeof dimensions)[]

/** @param isMoved whether `account export` wrote the rows */
export function costReader(ownCurrency: string, isMoved = false): RowReader<ReadCost> {
  const times = { givenTime: '', spentDay: 0, untilDay: null }
  const blank: ReadCost = { ...blankRow(costRowFields), ...blankAmount, ...times, given: 0, hasDerivedId: false }
  const read = rowReader(isMoved ? exportedShape : costShape, blank)
  return (fields, input) => {
    const row = read(fields, input)
    const days = (row.untilDay ?? row.spentDay) - row.spentDay + 1
    if (days < 1) throw new RowError('spentUntil: is before spentAt')
    if (days > 1) throw new RowError(`spentUntil: covers ${days} days: export one row per day`)
    row.costBase = baseAmount('costBase', row.cost, row.costBase, row, ownCurrency, input)
    if (row.currency === '') row.currency = ownCurrency
    if (row.id === '') {
      row.id = derivedId(row.givenTime, row)
      row.hasDerivedId = true
    }
    return row
  }
}

/** Equal for the rows of a day and its dimensions in every version of a sheet, and in every zone in which the sheet is read. */
export function derivedId(givenTime: string, row: Pick<Cost, (typeof dimensionNames)[number]>): string {
  const given = dimensionNames.flatMap((name) => (row[name] === '' ? [] : [[name, row[name]]]))
  const hash = createHash('sha256').update(JSON.stringify([givenTime, given]))
  return hash.digest('hex').slice(0, 32)
}

/** @param lines of the derived ids of a file; receives the line @throws RowError for a derived id that an earlier line has */
export function assertFirst(lines: Map<string, number>, { id, hasDerivedId }: ReadCost, line: number): void {
  if (!hasDerivedId) return
  const first = lines.get(id)
  if (first !== undefined)
    throw new RowError(`same day and dimensions as line ${first}: map \`id\` or another dimension`)
  lines.set(id, line)
}
