import type { NamedTable } from '../../schema/metadata.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { csvLine, type Field, instant, jsonLine, list, money, text } from './metadataFormat.ts'
import type { RowQuery } from './sql.ts'

const named = [text('id'), text('name')]
const dated = [instant('createdAt', 'created_at'), instant('updatedAt', 'updated_at')]

const fieldsOf: Record<NamedTable, readonly Field[]> = {
  campaigns: [
    ...named,
    text('userId', 'user_id'),
    text('status'),
    text('trafficSourceId', 'traffic_source_id'),
    text('costModel', 'cost_model'),
    money('costValue', 'cost_value'),
    text('currency'),
    list('tags'),
    ...dated,
  ],
  offers: [
    ...named,
    text('status'),
    text('url'),
    text('affiliateNetwork', 'affiliate_network'),
    text('payoutType', 'payout_type'),
    money('payout'),
    text('currency'),
    list('countries'),
    list('tags'),
    ...dated,
  ],
  landing_pages: [...named, text('status'), text('url'), list('tags'), ...dated],
  traffic_sources: [
    ...named,
    text('status'),
    text('category'),
    text('costModel', 'cost_model'),
    text('currency'),
    ...dated,
  ],
}

const rowsPerPage = 2_000

/** Postgres parses years of four digits; no row is later. */
const latestMs = Date.UTC(9999, 11, 31)

/**
 * Reads the rows of a metadata table, in order of id.
 * @param range range of `createdAt`
 * @throws Problem `unavailable`
 */
export async function* metadataLines(
  postgres: Postgres,
  table: NamedTable,
  { accountId, range, format }: Omit<RowQuery, 'currency'>,
): AsyncGenerator<Buffer> {
  const fields = fieldsOf[table]
  const [columns, line] = [fields.map(({ column }) => column), format === 'csv' ? csvLine : jsonLine]
  const since = new Date(Math.max(range.fromMs ?? 0, 0))
  const until = range.untilMs === undefined ? null : new Date(Math.min(Math.max(range.untilMs, 0), latestMs))
  if (format === 'csv') yield Buffer.from(`${fields.map(({ name }) => `"${name}"`).join(',')}\n`)
  let afterId = ''
  for (;;) {
    const rows = await queryPostgres(postgres<{ id: string }[]>`
      SELECT ${postgres(columns)}
      FROM ${postgres(table)}
      WHERE account_id = ${accountId} AND id > ${afterId}
        AND created_at >= ${since} AND created_at < coalesce(${until}::timestamptz, 'infinity')
      ORDER BY id
      LIMIT ${rowsPerPage}`)
    yield Buffer.from(rows.map((row) => line(fields, row)).join(''))
    if (rows.length < rowsPerPage) return
    afterId = rows.at(-1)?.id ?? ''
  }
}
