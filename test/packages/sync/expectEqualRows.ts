import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Tributary } from '../../../src/packages/client/client.ts'
import { changing, columnNameOf, exportedFields, metadata } from '../../../src/packages/sync/source/resources.ts'

type Values = Record<string, unknown>

/** Checks that every stored field of every row is equal in the source and in the copy, and that neither has other rows. */
export async function expectEqualRows(
  client: Tributary,
  read: (statement: string) => PromiseLike<Values[]>,
  schema = 'tributary',
): Promise<void> {
  for (const resource of [...changing, ...metadata] as const) {
    const { name, path, key, fields } = resource
    const keyOf = (row: Values) => key.map((field) => row[field]).join(' ')
    const request = 'time' in resource ? { query: resource.query, fields: exportedFields(resource) } : {}
    const source = new Map<string, Values>()
    for await (const row of client.exportRows(path, request as object)) {
      const { subIds, ...flat } = row as Values & { subIds?: object }
      source.set(keyOf(flat), { ...flat, ...subIds })
    }
    const stored = await read(`SELECT * FROM ${schema}.${name}`)
    expect([name, stored.length]).toEqual([name, source.size])
    const columns = Object.entries(fields).map(([field, type]) => ({ field, type, column: columnNameOf(field) }))
    const wrong = stored.filter((row) => {
      const expected = source.get(keyOf(row))
      return columns.some(
        ({ field, type, column }) => !isDeepStrictEqual(shownAs(type, row[column]), storedAs(type, expected?.[field])),
      )
    })
    expect([name, wrong.slice(0, 3)]).toEqual([name, []])
  }
}

function storedAs(type: string, value: unknown): unknown {
  return type === 'json' && typeof value === 'string'
    ? JSON.stringify(JSON.parse(value)).replaceAll('\\u0000', '\ufffd')
    : value
}

function shownAs(type: string, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (type.startsWith('bigint')) return Number(value)
  if (type === 'json' && value !== null) return JSON.stringify(typeof value === 'string' ? JSON.parse(value) : value)
  return type.startsWith('numeric') && value !== null ? Number(value) : value
}
