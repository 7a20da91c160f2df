import type { NamedTable } from '../../schema/metadata.ts'
import { listText, quoted } from '../rows/csvSerializer.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { type MetadataKind, metadataFields } from '../stores/postgres/metadataFields.ts'
import type { RowQuery } from './sql.ts'

const rowsPerPage = 2_000

/** Postgres parses years of four digits; no row is later. */
const latestMs = Date.UTC(9999, 11, 31)

/**
 * Reads the rows of a metadata table, in order of id.
 * @param range range of `createdAt`
 */
export async function* metadataLines(
  postgres: Postgres,
  table: NamedTable,
  { accountId, range, format }: Omit<RowQuery, 'currency'>,
): AsyncGenerator<Buffer> {
  const isCsv = format === 'csv'
  const fields = Object.entries<MetadataKind>(metadataFields[table])
  const lineOf = (row: Readonly<Record<string, unknown>>) => {
    const values = fields.map(([name, kind]) => {
      const value = formatted(kind, row[columnName(name)], isCsv)
      return isCsv ? value : `"${name}":${value}`
    })
    return isCsv ? `${values.join(',')}\n` : `{${values.join(',')}}\n`
  }
  const stored = (atMs: number) => new Date(Math.min(Math.max(atMs, 0), latestMs))
  if (isCsv) yield Buffer.from(`${fields.map(([name]) => `"${name}"`).join(',')}\n`)
  let afterId = ''
  for (;;) {
    const rows = await queryPostgres(postgres<{ id: string }[]>`
      SELECT ${postgres(fields.map(([name]) => columnName(name)))}
      FROM ${postgres(table)}
      WHERE account_id = ${accountId} AND id > ${afterId}
        AND created_at >= ${stored(range.fromMs ?? 0)} AND created_at < ${stored(range.untilMs ?? latestMs)}
      ORDER BY id
      LIMIT ${rowsPerPage}`)
    yield Buffer.from(rows.map(lineOf).join(''))
    if (rows.length < rowsPerPage) return
    afterId = rows.at(-1)?.id ?? ''
  }
}

/** Formats a value as a cell, or as JSON. Amounts are decimal text, because a double does not represent all of them exactly. */
function formatted(kind: MetadataKind, value: unknown, isCsv: boolean): string {
  if (value === null) return isCsv ? '' : 'null'
  if (kind === 'money') return /^-?\d+(?:\.\d*[1-9])?/.exec(value as string)?.[0] ?? ''
  if (kind === 'instant') return `"${(value as Date).toISOString()}"`
  if (!isCsv) return JSON.stringify(value)
  if (kind !== 'list') return quoted(value as string)
  const items = value as readonly string[]
  return items.length === 0 ? '' : quoted(listText(items))
}
