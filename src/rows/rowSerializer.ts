import { subIdNames } from '../../schema/subIds.ts'
import { toInstantText } from '../query/timeRange.ts'
import type { ColumnKind, Fields } from '../stores/clickhouse/columnKinds.ts'
import { entityNameOf, type NamesJson } from './entityNames.ts'
import { rowLayout } from './rowLayout.ts'
import { isSelected, type SelectedFields } from './selectedFields.ts'

/** The values of a row in the order of its text; absent values are empty, instants are epoch milliseconds. */
export interface RowText {
  values: readonly string[]
  /** Whether no value has a character that JSON escapes: a text is searched once instead of each value. */
  isPlain: boolean
}

/** What a response adds to the texts of its rows. */
interface Added {
  names: NamesJson
  baseCurrency: string
}

/** A value of a row; the value of a name is the id of its entity. */
interface Part {
  kind: ColumnKind | 'name' | 'baseCurrency' | 'added'
  name: string
  /** Position of the value in the text of the row; 0 for a value that is not in it. */
  index: number
  /** The object that has the field. */
  parent?: string
}

/**
 * Makes the function that serializes rows, with the fields in the order of the API. A page has ten thousand values, so one loop
 * writes them: a function for each field would be slower.
 * @param fields of the table
 * @param order the fields of the text; a call does not compile while it lacks a field of the table
 * @param last names of the fields that follow the fields of the table; a value that is not in the text is passed with its row
 * @returns a function that returns the JSON of a row, with the selected fields only
 */
export function rowSerializer<Of extends Fields, Name extends string>(
  fields: Of,
  order: readonly Name[] & (keyof Of extends Name ? unknown : never),
  last: readonly string[],
  selected?: SelectedFields,
) {
  const names: readonly string[] = order
  const field = (name: string, kind: Part['kind']): Part => ({ name, kind, index: Math.max(0, names.indexOf(name)) })
  const layout = rowLayout<Part[]>(fields, {
    field: (name, kind) => [field(name, kind)],
    entity: (name) => [[field(name, 'text')], [{ ...field(name, 'name'), name: entityNameOf(name) }]],
    subIds: subIdNames.map((name) => ({ ...field(name, 'text'), parent: 'subIds' })),
    baseCurrency: [field('baseCurrency', 'baseCurrency')],
  })
  const more = last.map((name) => field(name, names.includes(name) ? 'instant' : 'added'))
  const { steps, end } = stepsOf(
    [...layout.flat(), ...more].filter(({ name, parent = name }) => {
      return isSelected(name, selected) || isSelected(parent, selected)
    }),
  )
  return ({ values, isPlain }: RowText, { names, baseCurrency }: Added, added?: Readonly<Record<string, unknown>>) => {
    let json = ''
    for (const { prefix, kind, name, index } of steps) {
      const value = values[index] ?? ''
      json += prefix
      if (kind === 'flag') json += value === 'true'
      else if (kind === 'name') json += names[index]?.get(value) ?? 'null'
      else if (kind === 'baseCurrency') json += `"${baseCurrency}"`
      else if (kind === 'added') json += JSON.stringify(added?.[name])
      else if (value === '') json += 'null'
      else if (kind === 'moneyOrNull') json += Number(value)
      else if (kind === 'instant' || kind === 'instantOrNull') json += `"${toInstantText(Number(value))}"`
      else json += isPlain ? `"${value}"` : JSON.stringify(value)
    }
    return json + end
  }
}

/** @returns the parts of an object, each with the JSON between the value before and its own, and the JSON after them */
function stepsOf(parts: readonly Part[]) {
  const steps = parts.map(({ parent, ...part }, index) => {
    const before = parts[index - 1]
    const close = before?.parent && before.parent !== parent ? '}' : ''
    const open = parent && before?.parent !== parent ? `"${parent}":{` : ''
    return { ...part, prefix: `${close}${before ? ',' : '{'}${open}"${part.name}":` }
  })
  return { steps, end: parts.at(-1)?.parent ? '}}' : '}' }
}
