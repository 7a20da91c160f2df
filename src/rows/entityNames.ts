import type { NamedTable } from '../../schema/metadata.ts'
import { ch, type Fragment, identifier, join, texts } from '../stores/clickhouse/sql.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import type { RowField } from './exportFields.ts'
import type { NameCache } from './nameCache.ts'

/** The ids that clicks and conversions share, and the table that knows what each is called. */
const entityTables = {
  campaignId: 'campaigns',
  offerId: 'offers',
  landingPageId: 'landing_pages',
  trafficSourceId: 'traffic_sources',
} as const satisfies Record<string, NamedTable>

/** The ids of a row as they are stored: empty when absent. */
export type EntityIds = Record<keyof typeof entityTables, string>

/** The same as it leaves us, with the name that each has now; null for what is absent or unknown. */
export interface EntityNames {
  campaignId: string | null
  campaignName: string | null
  offerId: string | null
  offerName: string | null
  landingPageId: string | null
  landingPageName: string | null
  trafficSourceId: string | null
  trafficSourceName: string | null
}

/** The ids in a select list of `clicks` or `conversions`. */
export const entityColumns: Fragment = ch`campaign_id AS campaignId, offer_id AS offerId,
  landing_page_id AS landingPageId, traffic_source_id AS trafficSourceId`

/**
 * Finds what the places of some rows are called.
 * @returns the function that writes a row's ids and names
 * @throws Problem `unavailable`
 */
export async function readEntityNames(
  names: NameCache,
  accountId: string,
  rows: readonly EntityIds[],
): Promise<(row: EntityIds) => EntityNames> {
  const find = (field: keyof EntityIds) =>
    names.find(
      accountId,
      entityTables[field],
      rows.map((row) => row[field]),
    )
  const [campaigns, offers, landingPages, trafficSources] = await Promise.all([
    find('campaignId'),
    find('offerId'),
    find('landingPageId'),
    find('trafficSourceId'),
  ])
  return (row) => ({
    campaignId: row.campaignId || null,
    campaignName: campaigns.get(row.campaignId) ?? null,
    offerId: row.offerId || null,
    offerName: offers.get(row.offerId) ?? null,
    landingPageId: row.landingPageId || null,
    landingPageName: landingPages.get(row.landingPageId) ?? null,
    trafficSourceId: row.trafficSourceId || null,
    trafficSourceName: trafficSources.get(row.trafficSourceId) ?? null,
  })
}

/**
 * Reads what all places of an account are called now, for rows that ClickHouse writes itself.
 * @returns ids and names as fields of `clicks` or `conversions`, in the order of the API
 * @throws Problem `unavailable`
 */
export async function entityFields(postgres: Postgres, accountId: string): Promise<RowField[]> {
  const fields = await Promise.all(
    (Object.keys(entityTables) as (keyof typeof entityTables)[]).map(async (field) => {
      const rows = await readNames(postgres, entityTables[field], accountId)
      const column = identifier(field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      const [ids, names] = [rows.map(({ id }) => id), rows.map(({ name }) => name)]
      return [
        { name: field, value: ch`nullIf(${column}, '')`, isText: true as const },
        {
          name: field.replace(/Id$/, 'Name'),
          value: ch`transform(${column}, ${listOf(ids)}, ${listOf(names)}, NULL)`,
          isText: true as const,
        },
      ]
    }),
  )
  return fields.flat()
}

/** Rows of one statement: few enough that a key look-up does not wait long behind it on the embedded engine. */
const rowsPerStatement = 1_000

/** Reads all names of a table of one account, in the order of their ids. */
async function readNames(
  postgres: Postgres,
  table: NamedTable,
  accountId: string,
): Promise<{ id: string; name: string }[]> {
  const all: { id: string; name: string }[] = []
  for (;;) {
    const rows = await queryPostgres(
      postgres<{ id: string; name: string }[]>`
        SELECT id, name
        FROM ${postgres(table)}
        WHERE account_id = ${accountId} AND id > ${all.at(-1)?.id ?? ''}
        ORDER BY id
        LIMIT ${rowsPerStatement}`,
    )
    all.push(...rows)
    if (rows.length < rowsPerStatement) return all
  }
}

/** ClickHouse refuses a form field above 128 KiB. Quoting may double a text, and one text may have 24 KiB. */
const bytesPerParameter = 32_768

/** Any number of texts as a constant array. */
function listOf(values: readonly string[]): Fragment {
  const chunks: string[][] = [[]]
  let bytes = 0
  for (const value of values) {
    if (bytes > bytesPerParameter) {
      chunks.push([])
      bytes = 0
    }
    chunks.at(-1)?.push(value)
    bytes += Buffer.byteLength(value) + 3
  }
  return ch`arrayConcat(${join(
    chunks.map((chunk) => ch`${texts(chunk)}`),
    ', ',
  )})`
}
