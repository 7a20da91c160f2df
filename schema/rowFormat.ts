import { Type } from '@sinclair/typebox'

/** The forms in which rows leave beside JSON, and what each is called in `Accept` and `Content-Type`. */
export const mediaTypes = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const
export type RowFormat = keyof typeof mediaTypes

/** `format` and `csv_escape`, where an endpoint has these forms beside JSON. */
export function formatParameter<Format extends RowFormat>(formats: readonly Format[]) {
  const types = formats.map((format) => `\`${mediaTypes[format]}\``).join(', ')
  return {
    format: Type.Optional(
      Type.Union(
        [...formats, 'json' as const].map((format) => Type.Literal(format)),
        { description: `Form of the answer; wins over \`Accept\`, which takes ${types}.` },
      ),
    ),
    csv_escape: Type.Optional(
      Type.Literal('formulas', {
        description:
          "With CSV only: puts `'` before text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return, which spreadsheets would run as formulas.",
      }),
    ),
  }
}

/** The forms in which a list leaves whole, in one answer. */
export const listFormats = ['ndjson', 'csv', 'parquet'] as const satisfies RowFormat[]
/** The forms of answers that are a small table. */
export const tableFormats = ['csv'] as const satisfies RowFormat[]
