import type { NamedTable } from '../../schema/metadata.ts'
import { type ExportedEntity, entityColumns, entityLines } from '../rows/metadata.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { metadataFields } from '../stores/postgres/metadataFields.ts'
import { firstBytes, readInParts } from '../stores/postgres/readInParts.ts'
import type { RowQuery } from './sql.ts'

const rowsPerStatement = 2_000

/** Postgres parses years of four digits; no row is later. */
const latestMs = Date.UTC(9999, 11, 31)

/**
 * Reads the rows of a metadata table, in order of id.
 * @param range range of `createdAt`
 */
export function metadataLines(postgres: Postgres, table: NamedTable, query: RowQuery): AsyncGenerator<Buffer> {
  const { accountId, range, format } = query
  const stored = (atMs: number) => new Date(Math.min(Math.max(atMs, 0), latestMs))
  const select = (last: ExportedEntity | undefined, limit: number) =>
    firstBytes<ExportedEntity>(
      postgres,
      postgres`
        SELECT ${entityColumns(postgres, table, 'text')}
        FROM ${postgres(table)}
        WHERE account_id = ${accountId} AND id > ${`${last?.id ?? ''}`}
          AND created_at >= ${stored(range.fromMs ?? 0)} AND created_at < ${stored(range.untilMs ?? latestMs)}
        ORDER BY id
        LIMIT ${limit}`,
      postgres`id`,
    )
  return entityLines(Object.entries(metadataFields[table]), readInParts(select, rowsPerStatement), format)
}
