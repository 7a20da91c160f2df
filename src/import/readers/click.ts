import type { Account } from '../../accounts/accounts.ts'
import type { Click } from '../../writer/tables/click.ts'
import { baseAmount } from '../baseCurrency.ts'
import type { Decimal } from '../decimal.ts'
import { type RowReader, rowReader } from '../fields.ts'
import * as kind from '../fieldTypes.ts'

/** A click as a file gives it. */
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
      id: kind.id,
      clickedAt: kind.instant,
      campaignId: kind.id,
      offerId: kind.id,
      landingPageId: kind.id,
      trafficSourceId: kind.id,
      visitorId: kind.id,
      country: kind.country,
      region: kind.text,
      city: kind.text,
      device: kind.device,
      os: kind.text,
      osVersion: kind.text,
      browser: kind.text,
      browserVersion: kind.text,
      language: kind.text,
      referrer: kind.text,
      userAgent: kind.text,
      ip: kind.ip,
      externalClickId: kind.text,
      utmSource: kind.text,
      utmMedium: kind.text,
      utmCampaign: kind.text,
      utmTerm: kind.text,
      utmContent: kind.text,
      cost: kind.money,
      currency: kind.currency,
      costBase: kind.money,
      exchangeRate: kind.rate,
      baseCurrency: kind.currency,
      isBot: kind.boolean,
      isTest: kind.boolean,
    },
    spread: { subIds: kind.subIds },
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
      sub1: '',
      sub2: '',
      sub3: '',
      sub4: '',
      sub5: '',
      sub6: '',
      sub7: '',
      sub8: '',
      sub9: '',
      sub10: '',
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
