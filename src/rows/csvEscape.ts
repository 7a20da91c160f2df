import { invalidParameter } from '../problem.ts'
import { ch, type Fragment } from '../stores/clickhouse/sql.ts'

/** Whether text cells that a spreadsheet would run as formulas are escaped. */
export type CsvEscape = 'formulas' | undefined

/** Spreadsheets recognise a formula by its first character, and skip tab and CR before it. */
const formulaStart = /^[=+\-@\t\r]/

/** Parameters of CSV. */
export type CsvQuery = { csv_escape?: CsvEscape; csv_bom?: boolean; csv_decimal?: 'comma'; totals?: boolean }

/**
 * Checks that the parameters of CSV are used with CSV: a client that relies on `csv_escape` must not receive raw cells.
 * @param format format of the response, undefined for JSON
 * @throws Problem `invalid_csv_escape`, `invalid_csv_bom`, `invalid_csv_decimal`, `invalid_totals`
 */
export function checkCsvParameters(query: CsvQuery, format: string | undefined): void {
  if (format === 'csv') return
  for (const name of ['csv_escape', 'csv_bom', 'csv_decimal', 'totals'] as const) {
    if (query[name]) throw invalidParameter(name, `requires CSV; add format=csv, or omit ${name}.`)
  }
}

/** Prefixes a text cell that begins like a formula with `'`. */
export function escapeFormula(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text
}

/** The same in SQL. @param value text, NULL when absent */
export function escapeFormulaSql(value: Fragment): Fragment {
  return ch`replaceRegexpOne(${value}, '^([=+\\\\-@\\t\\r])', '\\'\\\\1')`
}
