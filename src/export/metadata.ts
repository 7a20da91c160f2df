import type { NamedTable } from '../../schema/metadata.ts'
import { listText, quoted } from '../rows/csvWriter.ts'
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
 * @throws Problem `unavailable`
 */
export async function* metadataLines(
  postgres: Postgres,
  table: NamedTable,
  { accountId, range, format }: Omit<RowQuery, 'currency'>,
): AsyncGenerator<Buffer> {
  const isCsv = format === 'csv'
  const fields = Object.entries<MetadataKind>(metadataFields[table]).map(([name, kind]) => ({
    name,
    column: columnName(name),
    write: formats[kind][isCsv ? 'cell' : 'json'],
  }))
  const lineOf = (row: Readonly<Record<string, unknown>>) => {
    const values = fields.map(({ name, column, write }) => {
      const value = row[column] === null ? (isCsv ? '' : 'null') : write(row[column] as never)
      return isCsv ? value : `"${name}":${value}`
    })
    return isCsv ? `${values.join(',')}\n` : `{${values.join(',')}}\n`
  }
  const since = new Date(Math.max(range.fromMs ?? 0, 0))
  const until = range.untilMs === undefined ? null : new Date(Math.min(Math.max(range.untilMs, 0), latestMs))
  if (isCsv) yield Buffer.from(`${fields.map(({ name }) => `"${name}"`).join(',')}\n`)
  let afterId = ''
  for (;;) {
    const rows = await queryPostgres(postgres<{ id: string }[]>`
      SELECT ${postgres(fields.map(({ column }) => column))}
      FROM ${postgres(table)}
      WHERE account_id = ${accountId} AND id > ${afterId}
        AND created_at >= ${since} AND created_at < coalesce(${until}::timestamptz, 'infinity')
      ORDER BY id
      LIMIT ${rowsPerPage}`)
    yield Buffer.from(rows.map(lineOf).join(''))
    if (rows.length < rowsPerPage) return
    afterId = rows.at(-1)?.id ?? ''
  }
}

/** The formats of a value that is not null. */
interface Format {
  json(value: never): string
  cell(value: never): string
}

const text: Format = { json: JSON.stringify, cell: quoted }
const instantText = (value: Date) => `"${value.toISOString()}"`
/** Amounts are read and written as decimal text, because a double does not represent all of them exactly. */
const shortest = (decimal: string) => decimal.replace(/\.?0*$/, '')

const formats: Record<MetadataKind, Format> = {
  ...{ required: text, status: text, text },
  money: { json: shortest, cell: shortest },
  list: {
    json: JSON.stringify,
    cell: (items: readonly string[]) => (items.length === 0 ? '' : quoted(listText(items))),
  },
  instant: { json: instantText, cell: instantText },
}
