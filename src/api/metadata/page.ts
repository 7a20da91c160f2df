import type { MetadataQuery, NamedTable } from '../../../schema/metadata.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import type { RouteContext } from '../../http/context.ts'
import { notFound } from '../../problem.ts'
import { type ListPlan, type PageRows, toPage } from '../../query/list.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'
import { type Entity, entityColumns, type StoredEntity, toEntity } from '../../rows/metadata.ts'
import { type PendingQuery, type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'

export interface MetadataPlan extends Pick<ListPlan, 'accountId' | 'limit' | 'after' | 'boundTo'> {
  table: NamedTable
  status: MetadataQuery['status']
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_cursor`
 */
export function planMetadata(
  table: NamedTable,
  query: MetadataQuery,
  { accountId }: { accountId: string },
): MetadataPlan {
  const boundTo = fingerprint(accountId, table, { ...query, fields: undefined })
  return {
    table,
    accountId,
    status: query.status,
    limit: query.limit ?? pageLimitDefault,
    after: readCursor(query.cursor, boundTo),
    boundTo,
  }
}

/** Reads one page of a table, newest first by (createdAt, id). */
export async function listMetadata(
  { stores: { postgres } }: RouteContext,
  plan: MetadataPlan,
): Promise<PageRows<Entity>> {
  const rows = await queryPostgres(selectMetadata(postgres, plan, plan.limit + 1))
  const page = toPage(rows, plan.limit, metadataKey, plan.boundTo)
  return { ...page, data: page.data.map(toEntity) }
}

/** The query for the first rows of a plan after its cursor, newest first by (createdAt, id). */
export function selectMetadata(
  postgres: Postgres,
  { table, accountId, status, after }: MetadataPlan,
  limit: number,
): PendingQuery<StoredEntity<Entity>[]> {
  return postgres<StoredEntity<Entity>[]>`
    SELECT ${entityColumns(postgres, table)}
    FROM ${postgres(table)}
    WHERE account_id = ${accountId}
      ${status === undefined ? postgres`` : postgres`AND status = ${status}`}
      ${after === undefined ? postgres`` : postgres`AND (created_at, id) < (${new Date(after.atMs)}, ${after.id})`}
    ORDER BY created_at DESC, id DESC
    LIMIT ${limit}`
}

/** The sort key of a row, for cursors. */
export function metadataKey({ createdAt, id }: StoredEntity<Entity>): PageKey {
  return { atMs: createdAt.getTime(), id }
}

/**
 * Reads one row.
 * @throws Problem `not_found` when the account has no such row
 */
export async function findMetadata(
  { stores: { postgres } }: RouteContext,
  table: NamedTable,
  accountId: string,
  id: string,
): Promise<Entity> {
  const [row] = await queryPostgres(postgres<StoredEntity<Entity>[]>`
    SELECT ${entityColumns(postgres, table)}
    FROM ${postgres(table)}
    WHERE account_id = ${accountId} AND id = ${id}`)
  if (!row) throw notFound()
  return toEntity(row)
}
