import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import { type Click, clickRowFields } from '../../writer/tables/click.ts'
import type { Given } from '../../writer/tables/givenFields.ts'
import { type AmountFields, baseAmount, blankAmount } from '../readers/amounts.ts'
import { typesOf, unstored } from '../readers/fieldTypes.ts'
import { subIdFields } from '../readers/objects.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowReader.ts'

export const clickShape: RowShape<Click & AmountFields> = {
  name: 'clicks',
  required: ['id', 'clickedAt'],
  ignored: [...unstored, 'converted', 'conversionCount'],
  fields: typesOf(clickFields) as RowShape<Click & AmountFields>['fields'],
  spread: subIdFields,
}

export function clickReader(ownCurrency: string): RowReader<Click & Given> {
  const blank = { ...blankRow(clickRowFields), ...blankAmount, given: 0 }
  const read = rowReader<typeof blank>(clickShape, blank)
  return (fields, input) => {
    const row = read(fields, input)
    row.costBase = baseAmount('costBase', row.cost, row.costBase, row, ownCurrency, input)
    if (row.cost !== null && row.currency === '') row.currency = ownCurrency
    return row
  }
}
