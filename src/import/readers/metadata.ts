import type { NamedTable } from '../../../schema/metadata.ts'
import { metadataStatuses } from '../../../schema/metadata.ts'
import { formatMillionths } from '../../query/money.ts'
import { columnName } from '../../stores/clickhouse/columnKinds.ts'
import { blankMetadata, type MetadataRowOf } from '../../stores/postgres/metadataFields.ts'
import type { MetadataRow } from '../../writer/store/metadata.ts'
import * as fieldTypes from './fieldTypes.ts'
import { type Columns, importedColumns, type RowReader, type RowShape, rowReader } from './rowDecoder.ts'

const named = {
  id: fieldTypes.id,
  name: fieldTypes.text,
  status: fieldTypes.words(metadataStatuses),
  createdAt: fieldTypes.instant,
  updatedAt: fieldTypes.instant,
}
const required = ['id', 'name'] as const

const campaigns: RowShape<MetadataRowOf<'campaigns'>> = {
  name: 'campaigns',
  required,
  ignored: ['trafficSourceName', 'matched', 'matches', 'cursor'],
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

const offers: RowShape<MetadataRowOf<'offers'>> = {
  name: 'offers',
  required,
  ignored: ['cursor'],
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

const landingPages: RowShape<MetadataRowOf<'landing_pages'>> = {
  name: 'landing-pages',
  required,
  ignored: ['cursor'],
  fields: { ...named, url: fieldTypes.text, tags: fieldTypes.tags },
}

const trafficSources: RowShape<MetadataRowOf<'traffic_sources'>> = {
  name: 'traffic-sources',
  required,
  ignored: ['cursor'],
  fields: { ...named, category: fieldTypes.text, costModel: fieldTypes.text, currency: fieldTypes.currency },
}

export const metadataColumns: Readonly<Record<NamedTable, Columns>> = {
  campaigns: importedColumns(campaigns),
  offers: importedColumns(offers),
  landing_pages: importedColumns(landingPages),
  traffic_sources: importedColumns(trafficSources),
}

/** The readers of metadata, by table. */
export const metadataReaders: Readonly<Record<NamedTable, (accountId: string) => RowReader<MetadataRow>>> = {
  campaigns: (accountId) => toColumns(rowReader(campaigns, { ...blankMetadata('campaigns'), userId: accountId })),
  offers: () => toColumns(rowReader(offers, blankMetadata('offers'))),
  landing_pages: () => toColumns(rowReader(landingPages, blankMetadata('landing_pages'))),
  traffic_sources: () => toColumns(rowReader(trafficSources, blankMetadata('traffic_sources'))),
}

/** Converts rows to columns, `costValue` to `cost_value`, with amounts and times as text. */
function toColumns<Row extends object>(read: RowReader<Row>): RowReader<MetadataRow> {
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
