import type { Dialect } from '../database/database.ts'

export const duckdbDialect: Dialect = {
  // An index must fit into memory, and a primary key takes longer than the rows. The minima and maxima of columns, which DuckDB
  // keeps for each group of rows, serve ranges of time.
  hasIndexes: false,
  // One process can open the file for writing.
  lock: '',
  commentQuery: `SELECT comment AS version FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2`,
  dayText: (time) => `strftime(${time}, '%Y-%m-%d')`,
  timeText: (time) => `strftime(${time}, '%Y-%m-%dT%H:%M:%S.%g')`,
  xorHash: (text) => `lpad(lower(to_hex(bit_xor(('0x' || left(md5(${text}), 15))::ubigint))), 15, '0')`,
  shownText(text) {
    const length = `list_max(list_filter(range(55, 221), lambda n: strlen(left(${text}, n)) <= 220))`
    return `CASE WHEN strlen(${text}) > 256 THEN left(${text}, ${length}) || '…' || left(sha256(${text}), 32) ELSE ${text} END`
  },
  // TRAP: the quotient of two decimals is a double in DuckDB. Integers of millionths are exact.
  ratioStatement(schema) {
    const [n, d] = ['n', 'd'].map((one) => `(${one}::decimal(38, 6) * 1000000)::hugeint`)
    const rounded = `(2000000 * abs(${n}) + abs(${d})) // (2 * abs(${d}))`
    return `CREATE OR REPLACE MACRO ${schema}.ratio(n, d) AS
      CASE WHEN d <> 0 THEN (sign(n) * sign(d) * (${rounded}))::decimal(38, 0) * 0.000001 END`
  },
  tableFunctionStatements(schema, name, variants) {
    const bodies = variants.map(({ parameters, refused, select }) => {
      const declared = parameters.map((one) => `${one.name}${one.default ? ` := ${one.default}` : ''}`)
      const checked = refused
        ? `SELECT q.* FROM (${select}) AS q WHERE CASE WHEN ${refused.condition} THEN error(${refused.message}) ELSE true END`
        : select
      return `(${declared.join(', ')}) AS TABLE (${checked})`
    })
    return [`CREATE OR REPLACE MACRO ${schema}.${name}${bodies.join(', ')}`]
  },
}
