import type { Dimension } from '../../schema/dimensions.ts'
import { notSet } from '../../schema/dimensions.ts'
import type { NamedTable } from '../../schema/metadata.ts'
import { countryName } from './countryName.ts'
import type { NameCache } from './nameCache.ts'

const namedTables: Partial<Record<Dimension, NamedTable>> = {
  campaign: 'campaigns',
  offer: 'offers',
  landing: 'landing_pages',
  traffic_source: 'traffic_sources',
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/**
 * Reads the names of a dimension's ids.
 * @param ids repetitions included
 * @returns a function from an id to its name; null for an unknown id
 * @throws Problem `unavailable`
 */
export async function readNames(
  nameCache: NameCache,
  accountId: string,
  dimension: Dimension,
  ids: readonly string[],
): Promise<(id: string) => string | null> {
  const table = namedTables[dimension]
  const names = table && (await nameCache.find(accountId, table, ids))
  return (id) => {
    if (id === notSet) return notSet
    if (names) return names.get(id) ?? null
    if (dimension === 'country') return countryName(id)
    return dimension === 'weekday' ? (weekdays[Number(id) - 1] ?? null) : id
  }
}
