import type { MetadataQuery, NamedTable } from '../../../schema/metadata.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'

export interface MetadataPlan {
  table: NamedTable
  accountId: string
  status: MetadataQuery['status']
  limit: number
  /** Sort key of the last row of the previous page; undefined for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this list carry. */
  fingerprint: string
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_cursor`
 */
export function planMetadata(
  table: NamedTable,
  { limit, cursor, fields: _fields, format: _format, csv_escape: _escape, ...filters }: MetadataQuery,
  { accountId }: { accountId: string },
): MetadataPlan {
  const boundTo = fingerprint(accountId, table, filters)
  return {
    table,
    accountId,
    status: filters.status,
    limit: limit ?? pageLimitDefault,
    after: readCursor(cursor, boundTo),
    fingerprint: boundTo,
  }
}
