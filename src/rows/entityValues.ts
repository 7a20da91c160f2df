import { type EntityDimension, entityDimensionNames, entityDimensions, notSet } from '../../schema/dimensions.ts'
import type { EntityValues, ValuesByDimension } from '../query/entityValues.ts'
import { shownText } from '../query/shownText.ts'
import { manyTexts } from '../stores/clickhouse/textList.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { RefreshingCache } from '../stores/refreshingCache.ts'

/** Ages of values: up to 5 s as of names, and up to 60 s while Postgres is unavailable; how often it is tried again. */
const ages = { freshMs: 2_000, staleWhileRevalidateMs: 3_000, staleIfErrorMs: 58_000, retryMs: 1_000 }
/**
 * Opens the cache of the values of entity dimensions.
 * @param now the current time, epoch milliseconds
 * @returns the function that finds the values of the dimensions that the parameters of a request name
 */
export function openEntityValues(postgres: Postgres, now: () => number) {
  const cache = new RefreshingCache<readonly [accountId: string, EntityDimension], EntityValues>({
    ...ages,
    // An account with tens of thousands of offers takes some megabytes.
    max: 100,
    now,
    keyOf: (wanted) => wanted.join(' '),
    read: (wanted) => readValues(postgres, ...wanted),
  })
  return async (accountId: string, parameters: unknown): Promise<ValuesByDimension> => {
    const text = JSON.stringify(parameters)
    // JSON within a parameter can write a letter as `\u0061`.
    const named = entityDimensionNames.filter((name) => text.includes(name) || text.includes('\\\\u'))
    return Object.fromEntries(await Promise.all(named.map(async (name) => [name, await cache.find([accountId, name])])))
  }
}

let versions = 0

async function readValues(postgres: Postgres, accountId: string, dimension: EntityDimension): Promise<EntityValues> {
  const { table, column } = entityDimensions[dimension]
  // No id has a comma.
  const rows = await queryPostgres(postgres<{ value: string; ids: string }[]>`
    SELECT ${postgres(column)} AS value, string_agg(id, ',') AS ids
    FROM ${postgres(table)}
    WHERE account_id = ${accountId} AND ${postgres(column)} NOT IN ('', ${notSet})
    GROUP BY value`)
  const values = rows.map(({ value, ids }) => [value, ids.split(',')] as const)
  return {
    version: ++versions,
    idsByValue: new Map(values),
    ids: manyTexts(values.flatMap(([, ids]) => ids)),
    shown: manyTexts(values.flatMap(([value, ids]) => Array(ids.length).fill(shownText(value)))),
  }
}
