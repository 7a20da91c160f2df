/** What differs between the SQL of PostgreSQL and the SQL of DuckDB. Types have the same names in both. */
export interface Dialect {
  /** Whether tables have primary keys and indexes. */
  hasIndexes: boolean
  /** The end of a SELECT that waits for unfinished writes of its rows. */
  lock: string
  /** A SELECT of the comment of a table as `version`. @param $1 name of the schema @param $2 name of the table */
  commentQuery: string
  /** @param time a timestamp without time zone @returns its day, such as `2026-11-20` */
  dayText(time: string): string
  /** @param time a timestamp without time zone @returns the text of the API, without time zone designator: `2026-11-20T10:00:00.000` */
  timeText(time: string): string
  /** @returns the XOR of the first 15 hexadecimal digits of the MD5 of a text, over all rows */
  xorHash(text: string): string
  /** @returns the form of a text that reports show: of more than 256 bytes its characters within 220 bytes, `…` and half of its SHA-256 */
  shownText(text: string): string
  /** @returns a statement that creates `ratio(n, d)`: n / d rounded to six decimals, half away from zero; NULL if d is 0 */
  ratioStatement(schema: string): string
  /** @returns statements that create the variants of a function, or replace them */
  tableFunctionStatements(schema: string, name: string, variants: readonly TableFunction[]): string[]
}

/** A variant of a function that returns a table. Variants differ in the number of their parameters. */
export interface TableFunction {
  parameters: readonly { name: string; type: string; default?: string }[]
  /** Names and types of the columns of the result. */
  columns: string
  /** Arguments that fail with a message, an expression. */
  refused?: { condition: string; message: string }
  /** A SELECT; it converts its parameters to their types. */
  select: string
}

/** An open database. */
export interface Database {
  dialect: Dialect
  /** Executes one statement, with the parameters `$1` and so on. @returns its rows */
  query<Row>(statement: string, values?: readonly (string | null)[]): Promise<Row[]>
  /** Executes statements without parameters as a whole or not at all. */
  execute(statements: readonly string[]): Promise<void>
}
