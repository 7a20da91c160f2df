import { subIdNames } from '../../schema/subIds.ts'
import { toInstantText } from '../query/timeRange.ts'
import type { ColumnKind, Fields } from '../stores/clickhouse/columnKinds.ts'
import { type EntityIds, type EntityNames, entityIdNames, entityNameOf } from './entityNames.ts'
import { rowLayout } from './rowLayout.ts'
import { isSelected, type SelectedFields } from './selectedFields.ts'

/** The values of a row in the order of its text; absent values are empty, instants are epoch milliseconds. */
export interface RowText {
  values: readonly string[]
  /** Whether no value has a character that JSON escapes: a text is searched once instead of each value. */
  isPlain: boolean
}

/** The text of a row, with what a response adds. */
export interface RowToSerialize extends RowText {
  entities: EntityNames
  baseCurrency: string
  /** Fields that are not in the text. */
  added?: Readonly<Record<string, unknown>>
}

/** @returns the JSON of a value or a row */
type ToJson = (row: RowToSerialize) => string

interface Part {
  name: string
  toJson: ToJson
  /** Of an object: the fields that can be selected. */
  parts?: readonly Part[]
}

/**
 * Makes the function that serializes rows, with the fields in the order of the API. A page has ten thousand values, so nothing is
 * decided per row.
 * @param fields of the table
 * @param order the fields of the text; a call does not compile while it lacks a field of the table
 * @param last names of the fields that follow the fields of the table; a value that is not in the text is in `added`
 * @returns a function that returns the JSON of a row, with the selected fields only
 */
export function rowSerializer<Of extends Fields, Name extends string>(
  fields: Of,
  order: readonly Name[] & (keyof Of extends Name ? unknown : never),
  last: readonly string[],
  selected?: SelectedFields,
): ToJson {
  const names: readonly string[] = order
  const field = (name: string, kind: ColumnKind): Part => ({ name, toJson: valueSerializer(names.indexOf(name), kind) })
  const subIds = subIdNames.map((name) => field(name, 'text'))
  const layout = rowLayout<Part>(fields, {
    field,
    entity: (name) =>
      ([name, entityNameOf(name)] as (keyof EntityNames)[]).map((shown) => ({
        name: shown,
        toJson: ({ entities }) => JSON.stringify(entities[shown]),
      })),
    subIds: { name: 'subIds', toJson: objectSerializer(subIds), parts: subIds },
    baseCurrency: { name: 'baseCurrency', toJson: ({ baseCurrency }) => `"${baseCurrency}"` },
  })
  const more = last.map(
    (name): Part =>
      names.includes(name) ? field(name, 'instant') : { name, toJson: ({ added }) => JSON.stringify(added?.[name]) },
  )
  return objectSerializer(
    [...layout, ...more].flatMap((part) => {
      if (isSelected(part.name, selected)) return [part]
      const parts = part.parts?.filter(({ name }) => isSelected(name, selected)) ?? []
      return parts.length === 0 ? [] : [{ name: part.name, toJson: objectSerializer(parts) }]
    }),
  )
}

function objectSerializer(parts: readonly Part[]): ToJson {
  const fields = parts.map(({ name, toJson }, index) => ({ prefix: `${index === 0 ? '{' : ','}"${name}":`, toJson }))
  return (row) => {
    let json = ''
    for (const { prefix, toJson } of fields) json += prefix + toJson(row)
    return `${json}}`
  }
}

function valueSerializer(index: number, kind: ColumnKind): ToJson {
  if (kind === 'flag') return ({ values }) => `${values[index] === 'true'}`
  if (kind === 'moneyOrNull') return present(index, (value) => `${Number(value)}`)
  if (kind === 'instant' || kind === 'instantOrNull') {
    return present(index, (value) => `"${toInstantText(Number(value))}"`)
  }
  return present(index, (value, isPlain) => (isPlain ? `"${value}"` : JSON.stringify(value)))
}

/** Serializes a value that is present; absent ones are null. */
function present(index: number, toJson: (value: string, isPlain: boolean) => string): ToJson {
  return ({ values, isPlain }) => {
    const value = values[index] ?? ''
    return value === '' ? 'null' : toJson(value, isPlain)
  }
}

/** @returns the entity ids of a row */
export function entityIdsOf(order: readonly string[]): (row: RowText) => EntityIds {
  const indexes = entityIdNames.map((name) => [name, order.indexOf(name)] as const)
  return ({ values }) =>
    Object.fromEntries(indexes.map(([name, index]) => [name, values[index] ?? ''])) as unknown as EntityIds
}
