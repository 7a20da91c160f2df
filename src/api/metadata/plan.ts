import type { MetadataQuery, NamedTable } from '../../../schema/metadata.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import type { ListPlan } from '../../query/listPlan.ts'
import { fingerprint, readCursor } from '../../query/pagination.ts'

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
