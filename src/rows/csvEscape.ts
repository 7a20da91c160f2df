import { Problem } from '../problem.ts'
import { ch, type Fragment } from '../stores/clickhouse/sql.ts'

/** Whether text cells that a spreadsheet would run as formulas are escaped. */
export type CsvEscape = 'formulas' | undefined

/** Spreadsheets recognise a formula by its first character, and skip tab and CR before it. */
const formulaStart = /^[=+\-@\t\r]/

/**
 * Checks that `csv_escape` is used with CSV: a client that relies on it must not receive raw cells.
 * @param format format of the response, undefined for JSON
 * @throws Problem `invalid_csv_escape`
 */
export function checkCsvEscape(csvEscape: CsvEscape, format: string | undefined): void {
  if (csvEscape === undefined || format === 'csv') return
  throw new Problem('invalid_csv_escape', 'csv_escape requires CSV; add format=csv, or omit csv_escape.', {
    param: 'csv_escape',
  })
}

/** Prefixes a text cell that begins like a formula with `'`. */
export function escapeFormula(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text
}

/** The same in SQL. @param value text, NULL when absent */
export function escapeFormulaSql(value: Fragment): Fragment {
  return ch`replaceRegexpOne(${value}, '^([=+\\\\-@\\t\\r])', '\\'\\\\1')`
}
