import { Problem } from '../problem.ts'
import { ch, type Fragment } from '../stores/clickhouse/sql.ts'

/** Whether text cells that a spreadsheet would run as formulas are made plain text. */
export type CsvEscape = 'formulas' | undefined

/** Spreadsheets take a text for a formula by its first character; tab and CR are skipped on the way to it. */
const formulaStart = /^[=+\-@\t\r]/

/**
 * Checks that `csv_escape` was sent for CSV.
 * @param format in which the response leaves, undefined for JSON
 * @throws Problem `invalid_csv_escape` for any other format: a caller who relies on it must not get raw cells
 */
export function checkCsvEscape(csvEscape: CsvEscape, format: string | undefined): void {
  if (csvEscape === undefined || format === 'csv') return
  throw new Problem('invalid_csv_escape', 'csv_escape is for CSV alone; send format=csv with it, or leave it out.', {
    param: 'csv_escape',
  })
}

/** A text cell with `'` in front where it begins like a formula. */
export function escapeFormula(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text
}

/** The same in SQL. @param value text, NULL when absent */
export function escapeFormulaSql(value: Fragment): Fragment {
  return ch`replaceRegexpOne(${value}, '^([=+\\\\-@\\t\\r])', '\\'\\\\1')`
}
