import type { PageKey } from '../../query/pagination.ts'
import type { NamesById } from '../../rows/nameCache.ts'
import type { Postgres } from '../../stores/postgres/connection.ts'
import { readSlice, type SliceQuery } from './slices.ts'

/** Limits of one part: names in memory and in one ClickHouse query. */
const namesMax = 5_000
const charactersMax = 4 * 1024 * 1024

/**
 * Finds the campaigns or offers with a name that contains the text, in parts.
 * @returns parts of at most 5,000 names by id, none of them empty
 * @throws Problem `unavailable`, `query_timeout`, or the signal's reason
 */
export async function* findNames(
  postgres: Postgres,
  query: Omit<SliceQuery, 'values'>,
  signal: AbortSignal,
): AsyncGenerator<NamesById, undefined> {
  let from: PageKey | undefined
  do {
    const names = new Map<string, string>()
    let characters = 0
    do {
      const { found, next } = await readSlice<{ id: string; name: string; createdAt: Date }>(
        postgres,
        { ...query, values: ['name'] },
        undefined,
        from,
        namesMax - names.size,
        signal,
      )
      for (const { row } of found) {
        names.set(row.id, row.name)
        characters += row.name.length
      }
      from = next
    } while (from !== undefined && names.size < namesMax && characters < charactersMax)
    if (names.size > 0) yield names
  } while (from !== undefined)
}
