import { subIdNames } from '../../schema/subIds.ts'
import { toInstantText } from '../query/timeRange.ts'
import type { ColumnKind, Fields } from '../stores/clickhouse/columnKinds.ts'
import { type EntityNames, entityNameOf } from './entityNames.ts'
import { rowLayout } from './rowLayout.ts'

/** A stored value: absent text is empty, instants are epoch milliseconds, amounts are decimal text. */
export type StoredValue = string | number | boolean | null

type StoredRow = Readonly<Record<string, StoredValue>>

export interface Shown {
  entities: EntityNames
  baseCurrency: string
}

type ResponseField = readonly [name: string, read: (row: StoredRow, shown: Shown) => unknown]

/** Converts stored fields to a row of the API. A page has ten thousand values, so nothing is decided per row. */
export function responseFields(fields: Fields): (row: StoredRow, shown: Shown) => Record<string, unknown> {
  const readers = rowLayout<ResponseField>(fields, {
    field: (name, kind) => [name, readerOf(name, kind)],
    entity(name) {
      const names = [name, entityNameOf(name)] as (keyof EntityNames)[]
      return names.map((field) => [field, (_row, shown) => shown.entities[field]])
    },
    subIds: ['subIds', subIdsOf],
    baseCurrency: ['baseCurrency', (_row, shown) => shown.baseCurrency],
  })
  return (row, shown) => {
    const response: Record<string, unknown> = {}
    for (const [name, read] of readers) response[name] = read(row, shown)
    return response
  }
}

function subIdsOf(row: StoredRow): Record<string, StoredValue> {
  const subIds: Record<string, StoredValue> = {}
  for (const name of subIdNames) subIds[name] = row[name] || null
  return subIds
}

function readerOf(name: string, kind: ColumnKind): ResponseField[1] {
  if (kind === 'flag') return (row) => row[name] === true || row[name] === 'true'
  if (kind === 'moneyOrNull') return present(name, Number)
  if (kind === 'instant' || kind === 'instantOrNull') return present(name, (value) => toInstantText(Number(value)))
  return present(name, (value) => value)
}

/** Converts a value that is present; absent ones are null. */
function present(name: string, convert: (value: StoredValue) => unknown): ResponseField[1] {
  return (row) => {
    const value = row[name] ?? null
    return value === null || value === '' ? null : convert(value)
  }
}
