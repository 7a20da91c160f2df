import type { Campaign, LandingPage, NamedTable, Offer, TrafficSource } from '../../schema/metadata.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { type MetadataKind, metadataFields } from '../stores/postgres/metadataFields.ts'
import type { CsvEscape } from './csvEscape.ts'
import { csvHeader, listText, textCellOf } from './csvSerializer.ts'

export type Entity = Campaign | Offer | LandingPage | TrafficSource

export type StoredEntity<Row extends Entity> = Omit<Row, 'createdAt' | 'updatedAt'> & {
  createdAt: Date
  updatedAt: Date
}

/** Field of the response that is in another table: the current name of a campaign's traffic source. */
const trafficSourceName = `
  (SELECT sources.name FROM traffic_sources AS sources
   WHERE sources.account_id = campaigns.account_id AND sources.id = traffic_source_id) AS "trafficSourceName"`

/** The select list of a table that has no alias: names and order of its schema, money as the nearest double or as decimal text. */
export function entityColumns(postgres: Postgres, table: NamedTable, money: 'float8' | 'text' = 'float8') {
  const columns = Object.entries<MetadataKind>(metadataFields[table]).flatMap(([name, kind]) => [
    `${columnName(name)}${kind === 'money' ? `::${money}` : ''} AS "${name}"`,
    ...(name === 'trafficSourceId' ? [trafficSourceName] : []),
  ])
  return postgres.unsafe(columns.join(', '))
}

/** @returns the row of the response */
export function toEntity<Row extends Entity>({ createdAt, updatedAt, ...row }: StoredEntity<Row>): Row {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() } as unknown as Row
}

/** The fields of exported rows, in their order. */
export type ExportedFields = readonly (readonly [name: string, kind: MetadataKind])[]

/** A row with the columns of `entityColumns`, money as text. */
export type ExportedEntity = Readonly<Record<string, unknown>>

/** Formats rows as CSV or NDJSON, part by part. Amounts are exact: a double does not represent all of them. */
export async function* entityLines(
  fields: ExportedFields,
  parts: AsyncIterable<readonly ExportedEntity[]>,
  format: 'csv' | 'ndjson',
  csvEscape?: CsvEscape,
): AsyncGenerator<Buffer> {
  const isCsv = format === 'csv'
  const textCell = textCellOf(csvEscape)
  const formatted = (kind: MetadataKind, value: unknown) => {
    if (value === null) return isCsv ? '' : 'null'
    if (kind === 'money') return /^-?\d+(?:\.\d*[1-9])?/.exec(value as string)?.[0] ?? ''
    if (!isCsv) return JSON.stringify(value)
    if (kind === 'instant') return textCell((value as Date).toISOString())
    if (kind !== 'list') return textCell(value as string)
    const items = value as readonly string[]
    return items.length === 0 ? '' : textCell(listText(items))
  }
  const lineOf = (row: ExportedEntity) => {
    const values = fields.map(([name, kind]) => `${isCsv ? '' : `"${name}":`}${formatted(kind, row[name])}`)
    return isCsv ? `${values.join()}\n` : `{${values.join()}}\n`
  }
  const names = fields.map(([name]) => name)
  let header = isCsv ? csvHeader(names, csvEscape) : ''
  for await (const rows of parts) {
    yield Buffer.from(header + rows.map(lineOf).join(''))
    header = ''
  }
}
