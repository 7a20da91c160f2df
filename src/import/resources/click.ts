import type { Account } from '../../accounts/accounts.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import { ErasedIdentifiers } from '../../writer/erasure/erasedIdentifiers.ts'
import { ClickBatch, existingClicks } from '../../writer/store/clicks.ts'
import { flush } from '../../writer/store/flush.ts'
import { comparedDuplicates, type Given } from '../../writer/store/givenFields.ts'
import { attributeEarlyConversions } from '../../writer/store/reattribution.ts'
import { type Click, clickRowFields } from '../../writer/tables/click.ts'
import { type AmountFields, baseAmount, blankAmount } from '../readers/amounts.ts'
import * as fieldTypes from '../readers/fieldTypes.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowDecoder.ts'
import { assertRetained, type ImportRun, type ResourceImport } from './rowBatch.ts'

export const clickShape: RowShape<Click & AmountFields> = {
  name: 'clicks',
  required: ['id', 'clickedAt'],
  ignored: [...fieldTypes.unstored, 'converted', 'conversionCount'],
  fields: fieldTypes.typesOf(clickFields) as RowShape<Click & AmountFields>['fields'],
  spread: fieldTypes.subIdFields,
}

export function clickReader(account: Pick<Account, 'id' | 'currency'>): RowReader<Click & Given> {
  const blank = { ...blankRow(clickRowFields), ...blankAmount, accountId: account.id, given: 0 }
  const read = rowReader<typeof blank>(clickShape, blank)
  return (fields, input) => {
    const row = read(fields, input)
    row.costBase = baseAmount('costBase', row.cost, row.costBase, row, account.currency)
    if (row.cost !== null && row.currency === '') row.currency = account.currency
    return row
  }
}

export async function openClickImport({ writer, account, isMoved }: ImportRun): Promise<ResourceImport> {
  const read = clickReader(account)
  const existing = existingClicks(writer)
  const erased = isMoved ? undefined : await ErasedIdentifiers.read(writer)
  const { clicksMs } = await writer.readRetained()
  const compared = { rows: comparedDuplicates }
  return {
    newBatch() {
      const batch = new ClickBatch(existing, compared)
      return {
        get isFull() {
          return batch.isFull
        },
        add(fields, input) {
          const click = read(fields, input)
          assertRetained('clickedAt', click.clickedAt, clicksMs)
          erased?.blankClick(click)
          batch.add(click)
          return click.campaignId
        },
        async store() {
          await erased?.recordFound()
          const { clicks } = await flush(writer, { clicks: batch })
          return { outcomes: clicks, conflicts: batch.conflicts }
        },
      }
    },
    async finishImport() {
      await attributeEarlyConversions(writer, [account.id])
      await erased?.finish()
    },
  }
}
