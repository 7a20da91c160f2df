import { LRUCache } from 'lru-cache'
import type { NamedTable } from '../../schema/metadata.ts'
import type { ReadContext } from '../query/readContext.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { queryPostgres } from '../stores/postgres/connection.ts'

/** Names by id, for one table of one account; without unknown ids. */
export type NamesById = ReadonlyMap<string, string>

export type NameCache = ReturnType<typeof openNameCache>

/** What a read of rows with names needs. */
export interface RowContext extends ReadContext {
  readonly nameCache: NameCache
}

/** Time after which a new name is shown. */
const ttlMs = 5_000
/** Memory of names, characters; an entry without its name counts as 100. */
const lengthMax = 20_000_000

/** Opens the cache of names. Misses are cached too, since clicks may refer to campaigns that are not imported. */
export function openNameCache(postgres: Postgres) {
  const cache = new LRUCache<string, { name: string | null }>({
    maxSize: lengthMax,
    sizeCalculation: ({ name }) => 100 + (name?.length ?? 0),
    ttl: ttlMs,
  })
  return {
    /** Finds the names of ids, mostly without a query. Repetitions and empty ids are allowed. */
    async find(accountId: string, table: NamedTable, ids: Iterable<string>): Promise<NamesById> {
      const found = new Map<string, string>()
      const missing: string[] = []
      for (const id of new Set(ids)) {
        if (id === '') continue
        const known = cache.get(`${accountId} ${table} ${id}`)
        if (known === undefined) missing.push(id)
        else if (known.name !== null) found.set(id, known.name)
      }
      if (missing.length === 0) return found
      const rows = await queryPostgres(postgres<{ id: string; name: string }[]>`
        SELECT id, name FROM ${postgres(table)} WHERE account_id = ${accountId} AND id = ANY(${missing})`)
      for (const { id, name } of rows) found.set(id, name)
      for (const id of missing) cache.set(`${accountId} ${table} ${id}`, { name: found.get(id) ?? null })
      return found
    },
  }
}
