import type { NamedTable } from '../../schema/metadata.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { metadataFields } from '../stores/postgres/metadataFields.ts'
import { csvLine, formatsOf, jsonLine } from './metadataFormat.ts'
import type { RowQuery } from './sql.ts'

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
  const fields = formatsOf(metadataFields[table])
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
