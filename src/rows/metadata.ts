import type { Campaign, LandingPage, NamedTable, Offer, TrafficSource } from '../../schema/metadata.ts'
import type { Postgres } from '../stores/postgres/connection.ts'

/** A row of metadata in a response. */
export type Resource = Campaign | Offer | LandingPage | TrafficSource

/** A row as Postgres returns it. */
export type StoredResource<Row extends Resource> = Omit<Row, 'createdAt' | 'updatedAt'> & {
  createdAt: Date
  updatedAt: Date
}

/** The select list of each table: names and order of its schema, money as the nearest double. */
const columns: Record<NamedTable, string> = {
  campaigns: `
    id, name, user_id AS "userId", status, traffic_source_id AS "trafficSourceId",
    (SELECT sources.name FROM traffic_sources AS sources
     WHERE sources.account_id = campaigns.account_id AND sources.id = traffic_source_id) AS "trafficSourceName",
    cost_model AS "costModel", cost_value::float8 AS "costValue", currency, tags,
    created_at AS "createdAt", updated_at AS "updatedAt"`,
  offers: `
    id, name, status, url, affiliate_network AS "affiliateNetwork", payout_type AS "payoutType",
    payout::float8 AS payout, currency, countries, tags, created_at AS "createdAt", updated_at AS "updatedAt"`,
  landing_pages: `
    id, name, status, url, tags, created_at AS "createdAt", updated_at AS "updatedAt"`,
  traffic_sources: `
    id, name, status, category, cost_model AS "costModel", currency,
    created_at AS "createdAt", updated_at AS "updatedAt"`,
}

/** The select list of a table, for a statement that uses no alias for the table. */
export function resourceColumns(postgres: Postgres, table: NamedTable) {
  return postgres.unsafe(columns[table])
}

/** @returns the row of the response */
export function toResource<Row extends Resource>({ createdAt, updatedAt, ...row }: StoredResource<Row>): Row {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() } as unknown as Row
}
