type Row = Record<string, unknown>

/** @returns the comments of a database in the form of `descriptions.json` */
export function describedBy(tables: readonly Row[], columns: readonly Row[]): object {
  const columnsOf = (table: unknown) =>
    columns.filter((row) => row.table === table).map(({ column, comment }) => [column, comment])
  return Object.fromEntries(
    tables.map(({ table, comment }) => [
      `${table}`,
      { description: comment, columns: Object.fromEntries(columnsOf(table)) },
    ]),
  )
}
