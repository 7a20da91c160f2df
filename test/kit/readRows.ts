import type { TSchema } from '@sinclair/typebox'
import { expect } from 'vitest'
import { readCsv } from '../../src/import/parsers/csvParser.ts'
import { splitIntoLines } from '../../src/import/parsers/lines.ts'
import type { TestApp } from './app.ts'

/**
 * Reads all rows of a list page by page, and checks that `hasMore` and `nextCursor` agree.
 * @param path with its query string, without a cursor
 * @param onPage is called with each page
 */
export async function readPages<Row>(
  api: TestApp,
  path: string,
  key: string,
  schema: TSchema & { static: { data: Row[]; nextCursor: string | null; hasMore: boolean; asOf?: string | null } },
  onPage: (page: { asOf?: string | null }) => unknown = () => {},
): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const next: string = cursor === '' ? '' : `${path.includes('?') ? '&' : '?'}cursor=${cursor}`
    const page: (typeof schema)['static'] = await api.read(path + next, key, schema)
    const { data, nextCursor, hasMore } = page
    expect(nextCursor !== null).toBe(hasMore)
    onPage(page)
    rows.push(...data)
    cursor = nextCursor
  }
  return rows
}

export function ndjsonRows<Row = Record<string, unknown> & { id: string; cursor: string }>(body: string): Row[] {
  const lines = body.split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line))
}

/** @returns the cells of the rows of CSV, by the names in its header */
export async function csvRows(body: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  const options = { delimiter: ',' as const, checkHeader: () => 0 }
  for await (const batch of readCsv(splitIntoLines([Buffer.from(body)] as never), options)) {
    for (const { fields } of batch) rows.push(fields as Record<string, unknown>)
  }
  return rows
}
