import { cursorField, exportedDimensions } from '../../schema/fields.ts'
import { Problem } from '../problem.ts'
import type { ListedResource } from '../query/readContext.ts'

export type SelectedFields = ReadonlySet<string> | undefined

/** Reads the parameter `fields`, which has valid names. */
export function parseFields(fields: string | undefined): SelectedFields {
  return fields === undefined ? undefined : new Set(['id', ...fields.split(',')])
}

/** Reads the parameter `fields` of a page in JSON. @throws Problem `invalid_fields` when it names a field that only exports have */
export function parsePageFields(fields: string | undefined, resource?: ListedResource): SelectedFields {
  const selected = parseFields(fields)
  const ofExports = Object.keys((resource && exportedDimensions[resource]) ?? {})
  const name = [cursorField, ...ofExports].find((one) => selected?.has(one))
  if (name === undefined) return selected
  const instead = name === cursorField ? 'a page in JSON has nextCursor' : 'add format=ndjson, csv or parquet'
  throw new Problem('invalid_fields', `${name} is a field of exports; ${instead}.`, { param: 'fields' })
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
