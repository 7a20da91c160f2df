import { conversionSources, conversionStatuses } from '../../../schema/conversion.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import { type Conversion, conversionRowFields, internalConversionFields } from '../../writer/tables/conversion.ts'
import type { Given } from '../../writer/tables/givenFields.ts'
import type { GivenRow } from '../../writer/upserts/changingTables.ts'
import { groupRowsMax } from '../../writer/upserts/currentRows.ts'
import { type AmountFields, baseAmount, blankAmount } from '../readers/amounts.ts'
import { typesOf, unstored } from '../readers/fieldTypes.ts'
import type { Input } from '../readers/mapping.ts'
import { subIdFields } from '../readers/objects.ts'
import { RowError } from '../readers/rowError.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowReader.ts'
import { oneOf } from '../readers/texts.ts'

interface ConversionRow extends Omit<Conversion, 'createdAt' | 'updatedAt'>, AmountFields, Given {
  createdAt: number | null
  updatedAt: number | null
}

export const conversionShape: RowShape<ConversionRow> = {
  name: 'conversions',
  required: ['id', 'convertedAt', 'status'],
  ignored: [...unstored, 'matched', 'matches'],
  fields: {
    ...(typesOf(conversionFields) as RowShape<ConversionRow>['fields']),
    source: oneOf(conversionSources),
    status: oneOf(conversionStatuses),
  },
  spread: subIdFields,
}

const statusFields = ['id', 'transactionId', 'status', 'updatedAt', 'externalStatus'] as const
const statusAmounts = ['payout', 'revenue', 'revenueBase', 'exchangeRate'] as const

/** A change of the status of stored conversions. */
export const statusShape: RowShape<ConversionRow> = {
  name: 'conversion-statuses',
  required: ['status'],
  ignored: [],
  fields: Object.fromEntries([...statusFields, ...statusAmounts].map((name) => [name, conversionShape.fields[name]])),
}

/** Rows that `account export` wrote have `internalConversionFields` too. */
const exportedShape = {
  ...conversionShape,
  fields: { ...conversionShape.fields, ...typesOf(internalConversionFields) },
}

const absent: ConversionRow = {
  ...blankRow(conversionRowFields),
  ...blankAmount,
  source: 'cpa',
  createdAt: null,
  updatedAt: null,
  given: 0,
}

/**
 * @param isMoved whether `account export` wrote the rows
 * @returns the reader of conversions. Absent times are taken from the row's other times, never from the
 *   clock, so that repeated imports of a file produce equal rows
 */
export function conversionReader(ownCurrency: string, isMoved = false): RowReader<Conversion & Given> {
  const read = rowReader(isMoved ? exportedShape : conversionShape, absent)
  return (fields, input) => {
    const row = read(fields, input)
    const createdAt = row.createdAt ?? row.convertedAt
    const revenueBase = baseAmount('revenueBase', row.revenue, row.revenueBase, row, ownCurrency, input)
    if (row.currency === '' && (row.revenue !== null || row.payout !== null)) row.currency = ownCurrency
    return Object.assign(row, { createdAt, updatedAt: row.updatedAt ?? createdAt, revenueBase })
  }
}

/** @returns the reader of changes of the status of stored conversions */
export function statusReader(ownCurrency: string): RowReader<GivenRow<Conversion>> {
  const read = rowReader(statusShape, absent)
  return (fields, input) => {
    const row = read(fields, input)
    const name = row.id === '' ? 'transactionId' : 'id'
    if (row[name] === '') throw new RowError('id: is required, or transactionId')
    const change = Object.assign(row, { createdAt: 0, updatedAt: row.updatedAt ?? 0 })
    const changesOf = (stored: readonly Conversion[]) => {
      const none = name === 'id' ? 'no stored conversion' : `no stored conversion, or more than ${groupRowsMax}`
      if (stored.length === 0) return `${name}: names ${none}; send it again after the conversion`
      try {
        return stored.map((conversion) => changedConversion(conversion, change, ownCurrency, input))
      } catch (error) {
        if (error instanceof RowError) return error.message
        throw error
      }
    }
    return Object.assign(change, { changesOf })
  }
}

/** @returns the later version of a stored conversion @throws RowError when the change is not of this conversion, or lacks an exchange rate */
function changedConversion(
  stored: Conversion,
  { status, externalStatus, updatedAt, given, importFile, importLine, ...change }: Conversion & AmountFields & Given,
  ownCurrency: string,
  input: Input,
): Conversion & Given {
  if (change.transactionId !== '' && change.transactionId !== stored.transactionId)
    throw new RowError('transactionId: differs from the transactionId of the conversion')
  const row = { ...stored, status, updatedAt, given, importFile, importLine }
  row.externalStatus = externalStatus || stored.externalStatus
  row.payout = change.payout ?? stored.payout
  row.revenue = change.revenue ?? stored.revenue
  if (row.currency === '' && (row.payout !== null || row.revenue !== null)) row.currency = ownCurrency
  const amounts = { ...change, currency: row.currency }
  const hasRevenue = change.revenue !== null || change.revenueBase !== null
  const amount = hasRevenue ? row.revenue : change.payout
  const base = baseAmount('revenueBase', amount, change.revenueBase, amounts, ownCurrency, input)
  if (hasRevenue) row.revenueBase = base
  return row
}
