import type { NamedTable } from '../../../schema/metadata.ts'
import { metadataStatuses } from '../../../schema/metadata.ts'
import { formatMillionths } from '../../query/money.ts'
import { columnName } from '../../stores/columnName.ts'
import type { MetadataRow } from '../../writer/store/metadata.ts'
import * as fieldTypes from '../fieldTypes.ts'
import { type Columns, columnsOf, type RowReader, type RowShape, rowReader } from '../rowReader.ts'

interface Named {
  id: string
  name: string
  status: string
  createdAt: number | null
  updatedAt: number | null
}

interface CampaignRow extends Named {
  userId: string
  trafficSourceId: string | null
  costModel: string | null
  costValue: bigint | null
  currency: string | null
  tags: string[]
}

interface OfferRow extends Named {
  url: string | null
  affiliateNetwork: string | null
  payoutType: string | null
  payout: bigint | null
  currency: string | null
  countries: string[]
  tags: string[]
}

interface LandingPageRow extends Named {
  url: string | null
  tags: string[]
}

interface TrafficSourceRow extends Named {
  category: string | null
  costModel: string | null
  currency: string | null
}

const named = {
  id: fieldTypes.id,
  name: fieldTypes.text,
  status: fieldTypes.words(metadataStatuses),
  createdAt: fieldTypes.instant,
  updatedAt: fieldTypes.instant,
}
const blankNamed = { id: '', name: '', status: 'active', createdAt: null, updatedAt: null }
const required = ['id', 'name'] as const

const campaigns: RowShape<CampaignRow> = {
  name: 'campaigns',
  required,
  ignored: ['trafficSourceName'],
  fields: {
    ...named,
    userId: fieldTypes.id,
    trafficSourceId: fieldTypes.id,
    costModel: fieldTypes.text,
    costValue: fieldTypes.money,
    currency: fieldTypes.currency,
    tags: fieldTypes.tags,
  },
}

const offers: RowShape<OfferRow> = {
  name: 'offers',
  required,
  ignored: [],
  fields: {
    ...named,
    url: fieldTypes.text,
    affiliateNetwork: fieldTypes.text,
    payoutType: fieldTypes.text,
    payout: fieldTypes.money,
    currency: fieldTypes.currency,
    countries: fieldTypes.countries,
    tags: fieldTypes.tags,
  },
}

const landingPages: RowShape<LandingPageRow> = {
  name: 'landing-pages',
  required,
  ignored: [],
  fields: { ...named, url: fieldTypes.text, tags: fieldTypes.tags },
}

const trafficSources: RowShape<TrafficSourceRow> = {
  name: 'traffic-sources',
  required,
  ignored: [],
  fields: { ...named, category: fieldTypes.text, costModel: fieldTypes.text, currency: fieldTypes.currency },
}

export const metadataColumns: Readonly<Record<NamedTable, Columns>> = {
  campaigns: columnsOf(campaigns),
  offers: columnsOf(offers),
  landing_pages: columnsOf(landingPages),
  traffic_sources: columnsOf(trafficSources),
}

/** The readers of metadata, by table. */
export const metadataReaders: Readonly<Record<NamedTable, (accountId: string) => RowReader<MetadataRow>>> = {
  campaigns: (accountId) =>
    toColumns(
      rowReader(campaigns, () => ({
        ...blankNamed,
        userId: accountId,
        trafficSourceId: null,
        costModel: null,
        costValue: null,
        currency: null,
        tags: [],
      })),
    ),
  offers: () =>
    toColumns(
      rowReader(offers, () => ({
        ...blankNamed,
        url: null,
        affiliateNetwork: null,
        payoutType: null,
        payout: null,
        currency: null,
        countries: [],
        tags: [],
      })),
    ),
  landing_pages: () => toColumns(rowReader(landingPages, () => ({ ...blankNamed, url: null, tags: [] }))),
  traffic_sources: () =>
    toColumns(rowReader(trafficSources, () => ({ ...blankNamed, category: null, costModel: null, currency: null }))),
}

/** Converts rows to columns, `costValue` to `cost_value`, with amounts and times as text. */
function toColumns<Row extends Named>(read: RowReader<Row>): RowReader<MetadataRow> {
  return (fields, from) => {
    const row = read(fields, from)
    const columns = Object.entries(row).map(([name, value]) => [
      columnName(name),
      typeof value === 'number'
        ? new Date(value).toISOString()
        : typeof value === 'bigint'
          ? formatMillionths(value)
          : value,
    ])
    return Object.fromEntries(columns) as MetadataRow
  }
}
