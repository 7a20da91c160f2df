import { cursorField } from '../../schema/fields.ts'
import { Problem } from '../problem.ts'

export type SelectedFields = ReadonlySet<string> | undefined

/** Reads the parameter `fields`, which has valid names. */
export function readFields(fields: string | undefined): SelectedFields {
  return fields === undefined ? undefined : new Set(['id', ...fields.split(',')])
}

/** Reads the parameter `fields` of a page in JSON. @throws Problem `invalid_fields` when it names the cursor of a row */
export function readPageFields(fields: string | undefined): SelectedFields {
  const selected = readFields(fields)
  if (!selected?.has(cursorField)) return selected
  throw new Problem('invalid_fields', `${cursorField} is a field of exports; a page in JSON has nextCursor.`, {
    param: 'fields',
  })
}

export function isSelected(name: string, selected: SelectedFields): boolean {
  return selected?.has(name) ?? true
}

/** @returns the row with the selected fields only, in its order; `sub1` selects a part of `subIds` */
export function selectIn<Row extends object>(row: Row, selected: SelectedFields): Row {
  if (!selected) return row
  const fields = Object.entries(row).flatMap(([name, value]) => {
    if (selected.has(name)) return [[name, value]]
    if (name !== 'subIds') return []
    const parts = selectIn(value, selected)
    return Object.keys(parts).length === 0 ? [] : [[name, parts]]
  })
  return Object.fromEntries(fields) as Row
}
