import type { Campaign, LandingPage, NamedTable, Offer, TrafficSource } from '../../schema/metadata.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { type MetadataKind, metadataFields } from '../stores/postgres/metadataFields.ts'

export type Entity = Campaign | Offer | LandingPage | TrafficSource

export type StoredEntity<Row extends Entity> = Omit<Row, 'createdAt' | 'updatedAt'> & {
  createdAt: Date
  updatedAt: Date
}

/** Field of the response that is in another table: the current name of a campaign's traffic source. */
const trafficSourceName = `
  (SELECT sources.name FROM traffic_sources AS sources
   WHERE sources.account_id = campaigns.account_id AND sources.id = traffic_source_id) AS "trafficSourceName"`

/** The select list of a table that has no alias: names and order of its schema, money as the nearest double or as decimal text. */
export function entityColumns(postgres: Postgres, table: NamedTable, money: 'float8' | 'text' = 'float8') {
  const columns = Object.entries<MetadataKind>(metadataFields[table]).flatMap(([name, kind]) => [
    `${columnName(name)}${kind === 'money' ? `::${money}` : ''} AS "${name}"`,
    ...(name === 'trafficSourceId' ? [trafficSourceName] : []),
  ])
  return postgres.unsafe(columns.join(', '))
}

/** @returns the row of the response */
export function toEntity<Row extends Entity>({
  createdAt,
  updatedAt,
  isFull: _,
  ...row
}: StoredEntity<Row> & { isFull?: boolean }): Row {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() } as unknown as Row
}
