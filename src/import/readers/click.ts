import { blankSubIds } from '../../../schema/click.ts'
import type { Account } from '../../accounts/accounts.ts'
import type { Click } from '../../writer/tables/click.ts'
import { baseAmount } from '../baseCurrency.ts'
import type { Decimal } from '../decimal.ts'
import { type RowReader, rowReader } from '../fields.ts'
import * as fieldTypes from '../fieldTypes.ts'

/** A click with the fields that only a file has. */
interface ClickRow extends Click {
  exchangeRate: Decimal | null
  baseCurrency: string
}

/** @returns the reader of clicks of an account */
export function clickReader(account: Pick<Account, 'id' | 'currency'>): RowReader<Click> {
  const read = rowReader<ClickRow>({
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
    spread: { subIds: fieldTypes.subIds },
    blank: () => ({
      accountId: account.id,
      id: '',
      clickedAt: 0,
      campaignId: '',
      offerId: '',
      landingPageId: '',
      trafficSourceId: '',
      visitorId: '',
      country: '',
      region: '',
      city: '',
      device: '',
      os: '',
      osVersion: '',
      browser: '',
      browserVersion: '',
      language: '',
      referrer: '',
      userAgent: '',
      ip: '',
      ...blankSubIds,
      externalClickId: '',
      utmSource: '',
      utmMedium: '',
      utmCampaign: '',
      utmTerm: '',
      utmContent: '',
      cost: null,
      currency: '',
      costBase: null,
      exchangeRate: null,
      baseCurrency: '',
      isBot: false,
      isTest: false,
    }),
  })
  return (fields, from) => {
    const row = read(fields, from)
    row.costBase = baseAmount(
      {
        baseField: 'costBase',
        amount: row.cost,
        currency: row.currency,
        base: row.costBase,
        exchangeRate: row.exchangeRate,
        baseCurrency: row.baseCurrency,
      },
      account.currency,
    )
    if (row.cost !== null && row.currency === '') row.currency = account.currency
    return row
  }
}
