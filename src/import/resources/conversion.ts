import { conversionSources, conversionStatuses } from '../../../schema/conversion.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import { type Conversion, conversionRowFields, internalConversionFields } from '../../writer/tables/conversion.ts'
import type { Given } from '../../writer/tables/givenFields.ts'
import { type AmountFields, baseAmount, blankAmount } from '../readers/amounts.ts'
import { typesOf, unstored } from '../readers/fieldTypes.ts'
import { subIdFields } from '../readers/objects.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowDecoder.ts'
import { oneOf } from '../readers/texts.ts'

interface ConversionRow extends Omit<Conversion, 'createdAt' | 'updatedAt'>, AmountFields {
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

/** Rows that `account export` wrote have `internalConversionFields` too. */
const exportedShape = {
  ...conversionShape,
  fields: { ...conversionShape.fields, ...typesOf(internalConversionFields) },
}

/**
 * @param isMoved whether `account export` wrote the rows
 * @returns the reader of conversions. Absent times are taken from the row's other times, never from the
 *   clock, so that repeated imports of a file produce equal rows
 */
export function conversionReader(ownCurrency: string, isMoved = false): RowReader<Conversion & Given> {
  const read = rowReader<ConversionRow & Given>(isMoved ? exportedShape : conversionShape, {
    ...blankRow(conversionRowFields),
    ...blankAmount,
    source: 'cpa',
    createdAt: null,
    updatedAt: null,
    given: 0,
  })
  return (fields, input) => {
    const row = read(fields, input)
    const createdAt = row.createdAt ?? row.convertedAt
    const revenueBase = baseAmount('revenueBase', row.revenue, row.revenueBase, row, ownCurrency, input)
    if (row.currency === '' && (row.revenue !== null || row.payout !== null)) row.currency = ownCurrency
    return Object.assign(row, { createdAt, updatedAt: row.updatedAt ?? createdAt, revenueBase })
  }
}
