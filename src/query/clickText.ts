import { type Column, columnName, type RowOf } from '../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, join, text } from '../stores/clickhouse/sql.ts'
import { clickFields } from '../stores/clickhouse/tableColumns.ts'
import { dayMs } from '../stores/timing/units.ts'
import { formatMillionths } from './money.ts'

// The column `row_text` of clicks has the values that a page shows, so that a page reads one column instead of forty. The values
// are separated by NUL, which no stored text contains:
//
//   1 | campaignId | offerId | … | sub10 | externalClickId | … | cost | currency | costBase | isBot | isTest
//   1 | cmp-1      | off-7   | … |       | gcl.1           | … | 0.250000 | USD  | 0.250000 |       | 1
//
// `1` is the version of the format. An absent value is empty. An empty text, or a text of another version, means: read the columns.

/** Most clicks that are younger have a text: ClickHouse empties it 35 days after the end of their month (TTL of the column). */
export const textAgeMs = 35 * dayMs
/** Clicks that are older when they are stored get no text: it would be emptied soon (TTL of the column). */
const storedTextAgeMs = textAgeMs + 31 * dayMs

/** A test has the fields of each version: another order or another field is another version. */
export const clickTextVersion = '1'
const separator = '\0'

const { id: _id, clickedAt: _clickedAt, ...textFields } = clickFields

export const clickTextFields = Object.entries(textFields)
type TextField = keyof typeof textFields
const names = Object.keys(textFields) as TextField[]

export const clickTextColumn: Column<Pick<RowOf<typeof clickFields>, TextField | 'clickedAt'>> = {
  name: 'row_text',
  type: 'String',
  write(out, row) {
    if (Date.now() - row.clickedAt >= storedTextAgeMs) {
      out.text('')
      return
    }
    let values = clickTextVersion
    for (const name of names) {
      const value = row[name]
      values += separator
      if (typeof value === 'string') values += value
      else if (typeof value === 'bigint') values += formatMillionths(value)
      else if (value) values += '1'
    }
    out.text(values)
  },
}

/** The same text, from the columns. */
export const clickTextSql: Fragment = ch`concatWithSeparator('\\0', ${text(clickTextVersion)}, ${join(
  names.map((name) => {
    const column = identifier(columnName(name))
    if (textFields[name] === 'moneyOrNull') return ch`ifNull(toDecimalString(${column}, 6), '')`
    return textFields[name] === 'flag' ? ch`if(${column}, '1', '')` : ch`toString(${column})`
  }),
)})`

/** Condition on a click whose text has this version and other values than the columns. */
export const hasWrongText: Fragment = ch`startsWith(row_text, concat(${text(clickTextVersion)}, '\\0')) AND row_text != ${clickTextSql}`

/** @returns the values of a text in the order of `clickTextFields`, undefined when the columns have to be read */
export function readClickText(rowText: string): string[] | undefined {
  const values = rowText.split(separator)
  return values.shift() === clickTextVersion && values.length === names.length ? values : undefined
}
