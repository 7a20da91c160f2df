import type { MetadataQuery, NamedTable } from '../../../schema/metadata.ts'
import { pageBytesMax, pageLimitDefault } from '../../../schema/page.ts'
import { notFound } from '../../problem.ts'
import { toPage } from '../../query/list.ts'
import { fingerprint, type PageKey, parseCursor } from '../../query/pagination.ts'
import { type Entity, entityColumns, type StoredEntity, toEntity } from '../../rows/metadata.ts'
import { type SelectedFields, selectIn } from '../../rows/selectedFields.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import { firstBytes } from '../../stores/postgres/readInParts.ts'

export type MetadataPlan = ReturnType<typeof planMetadata>

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_cursor`
 */
export function planMetadata(table: NamedTable, query: MetadataQuery, { accountId }: { accountId: string }) {
  const boundTo = fingerprint(accountId, table, { ...query, fields: undefined })
  return {
    table,
    accountId,
    status: query.status,
    limit: query.limit ?? pageLimitDefault,
    after: parseCursor(query.cursor, boundTo),
    boundTo,
  }
}

/** Reads one page of a table, newest first by (createdAt, id). */
export async function listMetadata(postgres: Postgres, plan: MetadataPlan, selected: SelectedFields) {
  const rows = await queryPostgres(selectMetadata(postgres, plan, plan.limit + 1, undefined, pageBytesMax))
  const isFull = rows.at(-1)?.isFull
  return toPage({ rows, isFull }, plan, metadataKey, ({ isFull: _, ...row }) =>
    JSON.stringify(selectIn(toEntity(row), selected)),
  )
}

/** The query for the first rows of a plan after its cursor, newest first by (createdAt, id), as `firstBytes`. */
export function selectMetadata(
  postgres: Postgres,
  { table, accountId, status, after }: MetadataPlan,
  limit: number,
  money?: 'text',
  bytesMax?: number,
) {
  const rows = postgres`
    SELECT ${entityColumns(postgres, table, money)}
    FROM ${postgres(table)}
    WHERE account_id = ${accountId}
      ${status === undefined ? postgres`` : postgres`AND status = ${status}`}
      ${after === undefined ? postgres`` : postgres`AND (created_at, id) < (${new Date(after.atMs)}, ${after.id})`}
    ORDER BY created_at DESC, id DESC
    LIMIT ${limit}`
  return firstBytes<ListedEntity>(postgres, rows, postgres`"createdAt" DESC, id DESC`, bytesMax)
}

export type ListedEntity = StoredEntity<Entity>

/** The sort key of a row, for cursors. */
export function metadataKey({ createdAt, id }: StoredEntity<Entity>): PageKey {
  return { atMs: createdAt.getTime(), id }
}

/**
 * Reads one row.
 * @throws Problem `not_found` when the account has no such row
 */
export async function findMetadata(postgres: Postgres, table: NamedTable, accountId: string, id: string) {
  const [row] = await queryPostgres(postgres<StoredEntity<Entity>[]>`
    SELECT ${entityColumns(postgres, table)}
    FROM ${postgres(table)}
    WHERE account_id = ${accountId} AND id = ${id}`)
  if (!row) throw notFound()
  return toEntity(row)
}
