import { conversionSources, conversionStatuses } from '../../../schema/conversion.ts'
import type { Account } from '../../accounts/accounts.ts'
import { blankConversion, type Conversion } from '../../writer/tables/conversion.ts'
import { baseAmount } from '../baseCurrency.ts'
import type { Decimal } from '../decimal.ts'
import { type RowReader, rowReader } from '../fields.ts'
import * as kind from '../fieldTypes.ts'

/** A conversion as a file gives it. */
interface ConversionRow extends Omit<Conversion, 'createdAt' | 'updatedAt'> {
  createdAt: number | null
  updatedAt: number | null
  exchangeRate: Decimal | null
  baseCurrency: string
}

/**
 * @returns the reader of conversions of an account. Times that were not given come from the row itself, never from the
 *   clock, so that the same file gives the same rows whenever it is read
 */
export function conversionReader(account: Pick<Account, 'id' | 'currency'>): RowReader<Conversion> {
  const read = rowReader<ConversionRow>({
    name: 'conversions',
    required: ['id', 'convertedAt', 'status'],
    ignored: ['campaignName', 'offerName', 'landingPageName', 'trafficSourceName', 'storedAt', 'cursor'],
    fields: {
      id: kind.id,
      source: kind.words(conversionSources),
      status: kind.words(conversionStatuses),
      externalStatus: kind.text,
      eventName: kind.text,
      convertedAt: kind.instant,
      clickedAt: kind.instant,
      createdAt: kind.instant,
      updatedAt: kind.instant,
      clickId: kind.id,
      visitorId: kind.id,
      transactionId: kind.text,
      campaignId: kind.id,
      offerId: kind.id,
      landingPageId: kind.id,
      trafficSourceId: kind.id,
      country: kind.country,
      device: kind.device,
      os: kind.text,
      browser: kind.text,
      payout: kind.money,
      revenue: kind.money,
      currency: kind.currency,
      revenueBase: kind.money,
      exchangeRate: kind.rate,
      baseCurrency: kind.currency,
      couponCode: kind.text,
      isTest: kind.boolean,
    },
    spread: { subIds: kind.subIds },
    blank: () => ({
      ...blankConversion(account.id),
      source: 'cpa',
      createdAt: null,
      updatedAt: null,
      exchangeRate: null,
      baseCurrency: '',
    }),
  })
  return (fields, from) => {
    const { exchangeRate, baseCurrency, createdAt, updatedAt, ...row } = read(fields, from)
    const revenueBase = baseAmount(
      {
        baseField: 'revenueBase',
        amount: row.revenue,
        currency: row.currency,
        base: row.revenueBase,
        exchangeRate,
        baseCurrency,
      },
      account.currency,
    )
    const hasAmount = row.revenue !== null || row.payout !== null
    return {
      ...row,
      createdAt: createdAt ?? row.convertedAt,
      updatedAt: updatedAt ?? createdAt ?? row.convertedAt,
      currency: row.currency === '' && hasAmount ? account.currency : row.currency,
      revenueBase,
    }
  }
}
