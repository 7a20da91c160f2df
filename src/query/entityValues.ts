import { type EntityDimension, entityDimensions, isOfEntity } from '../../schema/dimensions.ts'
import type { Fragment } from '../stores/clickhouse/sql.ts'
import { anyOf } from '../stores/clickhouse/textList.ts'
import type { ValueFilter } from './filterTree.ts'
import { fold } from './searchText.ts'
import { shownText } from './shownText.ts'

/** The present values of an entity dimension. Entities without a value are absent. */
export interface EntityValues {
  /** Another one after each read. */
  version: number
  /** Whole values. */
  idsByValue: ReadonlyMap<string, readonly string[]>
  /** Arrays of all ids and of the value of each, as responses show it. */
  ids: Fragment
  shown: Fragment
}

/** The values of the dimensions that a request names. */
export type ValuesByDimension = { readonly [Name in EntityDimension]?: EntityValues }

/** @returns the condition on the ids of entities that a condition on their value is, with any number of ids; other conditions as they are */
export function byEntity<Condition extends ValueFilter>(condition: Condition, values: ValuesByDimension = {}) {
  const { attribute, values: wanted, isExcluded, isPart } = condition
  if (!isOfEntity(attribute)) return condition
  const isSelected = (value: string, folded = isPart ? fold(value) : '') => {
    const isFound = isPart
      ? value !== '' && wanted.some((part) => folded.includes(part))
      : wanted.includes(value) || wanted.includes(shownText(value))
    return isFound !== isExcluded
  }
  // Rows without an entity, and with an unknown one, have no value.
  const isForRest = isSelected('')
  const others = [...(values[attribute]?.idsByValue ?? [])].filter(([value]) => isSelected(value) !== isForRest)
  const ids = others.flatMap(([, found]) => found)
  return { attribute: entityDimensions[attribute].by, values: ids, isExcluded: isForRest, list: anyOf(ids) }
}
