import { subIdNames } from '../../schema/subIds.ts'
import { ch, type Fragment, identifier, join, texts } from '../stores/clickhouse/sql.ts'
import type { Filter } from './filterTree.ts'
import { mayBeShortened } from './shownText.ts'

/** The columns of `ids_index` of `clicks`, in its order. */
const indexedColumns = ['visitor_id', ...subIdNames] as const
const indexed = ch`[${join(indexedColumns.map(identifier))}]`

/** Whether rows with other texts may match a value: rows without a value, and with a long text. */
const matchesOthers = (value: string) => value === '' || mayBeShortened(value)

/**
 * Conditions that only `ids_index` evaluates, and no row: a part of the table is not read if it has none of the values of a
 * filter in any of the indexed columns. They go beside the conditions of the filters themselves.
 * @returns none for excluded values, parts of values and nested conditions, and none with a value that matches other texts
 */
export function idsIndexHints(filters: readonly Filter[]): Fragment[] {
  return filters.flatMap((filter) => {
    if (!('attribute' in filter)) return []
    const { attribute, values, isExcluded, isPart } = filter
    const isIndexed = (indexedColumns as readonly string[]).includes(attribute)
    return isIndexed && !isExcluded && !isPart && !values.some(matchesOthers)
      ? [ch`indexHint(hasAny(${indexed}, ${texts(values)}))`]
      : []
  })
}
