import descriptions from './descriptions.json' with { type: 'json' }

/** @returns statements that describe tables and columns in the words of the API */
export function commentStatements(schema: string): string[] {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  return Object.entries(descriptions).flatMap(([table, { description, columns }]) => [
    `COMMENT ON ${table.endsWith('_details') ? 'VIEW' : 'TABLE'} ${schema}.${table} IS ${quoted(description)}`,
    ...Object.entries(columns).map(
      ([column, text]) => `COMMENT ON COLUMN ${schema}.${table}.${column} IS ${quoted(text)}`,
    ),
  ])
}
