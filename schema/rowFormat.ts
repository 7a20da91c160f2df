import { Type } from '@sinclair/typebox'
import { OneOf, optional } from './scalars.ts'

/** Row formats besides JSON, and their media types. */
export const mediaTypes = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const
export type RowFormat = keyof typeof mediaTypes

/** Parameters `format`, `csv_escape`, `csv_bom` and `csv_decimal` of an endpoint that supports these formats besides JSON. */
export function formatParameter<Format extends RowFormat>(formats: readonly Format[]) {
  const types = formats.map((format) => `\`${mediaTypes[format]}\``).join(', ')
  return optional({
    format: OneOf([...formats, 'json'], {
      description: `Format of the response; overrides the \`Accept\` header, which accepts ${types}.`,
    }),
    csv_escape: Type.Literal('formulas', {
      description:
        "CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas.",
    }),
    csv_bom: Type.Boolean({
      default: false,
      description: 'CSV only: begins the file with a byte order mark, by which Excel recognizes UTF-8.',
    }),
    csv_decimal: Type.Literal('comma', {
      description:
        'CSV only: writes `;` between values and a comma in numbers, as spreadsheets of many languages read them.',
    }),
  })
}

/** Formats of a list export: all rows, streamed in one response. */
export const listFormats = ['ndjson', 'csv', 'parquet'] as const satisfies RowFormat[]
/** Formats of responses that are a small table. */
export const tableFormats = ['csv'] as const satisfies RowFormat[]
