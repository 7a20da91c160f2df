import type { Dimension } from '../../schema/dimensions.ts'
import { notSet } from '../../schema/dimensions.ts'
import type { NamedTable } from '../../schema/metadata.ts'
import { shownText } from '../query/shownText.ts'
import type { NameCache } from './nameCache.ts'

const namedTables: Partial<Record<Dimension, NamedTable>> = {
  campaign: 'campaigns',
  offer: 'offers',
  landing: 'landing_pages',
  traffic_source: 'traffic_sources',
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** Reads the names of a dimension's ids. @returns a function to a name as responses show it, null for an unknown id */
export async function readNames(nameCache: NameCache, accountId: string, dimension: Dimension, ids: readonly string[]) {
  const table = namedTables[dimension]
  const names = table && (await nameCache.find(accountId, table, ids))
  return (id: string) => {
    if (id === notSet) return notSet
    const name = names?.get(id)
    if (names) return name === undefined ? null : shownText(name)
    if (dimension === 'country') return countryName(id)
    return dimension === 'weekday' ? (weekdays[Number(id) - 1] ?? null) : id
  }
}

const englishNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Names by code, of at most 676 codes: a report asks for each a hundred times. */
const names = new Map<string, string | null>()

/** The English name of an ISO 3166-1 alpha-2 code, null for an unassigned code. */
function countryName(code: string): string | null {
  const known = names.get(code)
  if (known !== undefined) return known
  if (!/^[A-Z]{2}$/.test(code)) return null
  const name = englishNames.of(code) ?? null
  names.set(code, name)
  return name
}
