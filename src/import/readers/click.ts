import type { Account } from '../../accounts/accounts.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import { type Click, clickRowFields } from '../../writer/tables/click.ts'
import { baseAmount } from './baseCurrency.ts'
import type { Decimal } from './decimal.ts'
import * as fieldTypes from './fieldTypes.ts'
import { type RowReader, type RowShape, rowReader } from './rowDecoder.ts'

/** A click with the fields that only a file has. */
interface ClickRow extends Click {
  exchangeRate: Decimal | null
  baseCurrency: string
}

export const clickShape: RowShape<ClickRow> = {
  name: 'clicks',
  required: ['id', 'clickedAt'],
  ignored: [...fieldTypes.unstored, 'converted', 'conversionCount'],
  fields: fieldTypes.typesOf(clickFields) as RowShape<ClickRow>['fields'],
  spread: fieldTypes.subIdFields,
}

/** @returns the reader of clicks of an account */
export function clickReader(account: Pick<Account, 'id' | 'currency'>): RowReader<Click> {
  const read = rowReader(clickShape, {
    ...blankRow(clickRowFields),
    accountId: account.id,
    exchangeRate: null,
    baseCurrency: '',
  })
  return (fields, from) => {
    const row = read(fields, from)
    row.costBase = baseAmount('costBase', row.cost, row.costBase, row, account.currency)
    if (row.cost !== null && row.currency === '') row.currency = account.currency
    return row
  }
}
