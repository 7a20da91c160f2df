import { subIdNames } from '../../../schema/subIds.ts'
import type { Account } from '../../accounts/accounts.ts'
import { blankRow } from '../../stores/clickhouse/columnKinds.ts'
import { type Click, clickRowFields } from '../../writer/tables/click.ts'
import { baseAmount } from './baseCurrency.ts'
import type { Decimal } from './decimal.ts'
import * as fieldTypes from './fieldTypes.ts'
import { importedColumns, type RowReader, type RowShape, rowReader } from './rowDecoder.ts'

/** A click with the fields that only a file has. */
interface ClickRow extends Click {
  exchangeRate: Decimal | null
  baseCurrency: string
}

const shape: RowShape<ClickRow> = {
  name: 'clicks',
  required: ['id', 'clickedAt'],
  ignored: [
    'campaignName',
    'offerName',
    'landingPageName',
    'trafficSourceName',
    'storedAt',
    'cursor',
    'converted',
    'conversionCount',
  ],
  fields: {
    id: fieldTypes.id,
    clickedAt: fieldTypes.instant,
    campaignId: fieldTypes.id,
    offerId: fieldTypes.id,
    landingPageId: fieldTypes.id,
    trafficSourceId: fieldTypes.id,
    visitorId: fieldTypes.id,
    country: fieldTypes.country,
    region: fieldTypes.text,
    city: fieldTypes.text,
    device: fieldTypes.device,
    os: fieldTypes.text,
    osVersion: fieldTypes.text,
    browser: fieldTypes.text,
    browserVersion: fieldTypes.text,
    language: fieldTypes.text,
    referrer: fieldTypes.text,
    userAgent: fieldTypes.text,
    ip: fieldTypes.ip,
    externalClickId: fieldTypes.text,
    utmSource: fieldTypes.text,
    utmMedium: fieldTypes.text,
    utmCampaign: fieldTypes.text,
    utmTerm: fieldTypes.text,
    utmContent: fieldTypes.text,
    cost: fieldTypes.money,
    currency: fieldTypes.currency,
    costBase: fieldTypes.money,
    exchangeRate: fieldTypes.rate,
    baseCurrency: fieldTypes.currency,
    isBot: fieldTypes.boolean,
    isTest: fieldTypes.boolean,
  },
  spread: fieldTypes.subIdFields,
}

/** The types of the stored fields of a click. */
export const clickFieldTypes = {
  ...shape.fields,
  ...Object.fromEntries(subIdNames.map((name) => [name, fieldTypes.text])),
}

/** The columns of an imported file of clicks. */
export const importedClickColumns = importedColumns(shape)

/** @returns the reader of clicks of an account */
export function clickReader(account: Pick<Account, 'id' | 'currency'>): RowReader<Click> {
  const read = rowReader(shape, {
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
