import { createHash } from 'node:crypto'
import { changing, columnNameOf, metadata, type Resource } from '../source/resources.ts'
import { commentStatements } from './comments.ts'
import { countriesStatements } from './countries.ts'
import type { Database } from './database.ts'
import { stateStatements } from './state.ts'
import { viewNames, viewStatements } from './views.ts'

const resources: readonly Resource[] = [...changing, ...metadata]

/**
 * Creates the schema, tables, indexes, views and functions of a copy, and adds columns that a newer version has; for a table
 * with rows, it notes them to be filled.
 * @param schema a checked name
 */
export async function createTables({ dialect, query, execute }: Database, schema: string): Promise<void> {
  const found = await query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_catalog = current_database() AND table_schema = $1`,
    [schema],
  )
  const columns = new Map(resources.map(({ name }) => [name, new Set<string>()]))
  for (const { table, column } of found) columns.get(table)?.add(column)
  const incomplete = resources.filter(({ name, fields }) =>
    Object.keys(fields).some((field) => !columns.get(name)?.has(columnNameOf(field))),
  )
  const states = stateStatements(schema)
  const views = viewStatements(dialect, schema)
  const comments = commentStatements(schema)
  // The names of countries are long to make, and change with the version of Unicode's data.
  const hash = createHash('sha256').update([...states, ...views, ...comments, process.versions.cldr].join(';'))
  const version = `How far each resource is copied, to tables of version ${hash.digest('hex')}.`
  const [current] = await query<{ version: string | null }>(dialect.commentQuery, [schema, 'sync_state'])
  // Nothing to do: replacing a view waits for the queries that read it.
  if (incomplete.length === 0 && current?.version === version) return
  // Earlier versions stored the character. A transaction of its own: DuckDB changes no rows of a table that it has altered.
  if (columns.get('events')?.has('properties')) {
    const fixed = jsonIn('properties::text')
    await execute([`UPDATE ${schema}.events SET properties = ${fixed} WHERE strpos(properties::text, ${nul}) > 0`])
  }
  const isExtended = incomplete.some(({ name }) => columns.get(name)?.size)
  await execute([
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    ...states,
    // A view has the columns of its table; a replacement can only append some.
    ...(isExtended ? viewNames.map((view) => `DROP VIEW IF EXISTS ${schema}.${view}`) : []),
    ...resources.flatMap((resource) => {
      const known = columns.get(resource.name) ?? new Set()
      return [
        ...tableStatements(schema, resource, known, dialect.hasIndexes),
        ...(dialect.hasIndexes ? indexStatements(schema, resource) : []),
      ]
    }),
    ...countriesStatements(schema),
    ...views,
    ...comments,
    `COMMENT ON TABLE ${schema}.sync_state IS '${version}'`,
  ])
}

// Not `\`, which some settings of PostgreSQL make an escape.
const backslash = 'chr(92)'
const nul = `${backslash} || 'u0000'`

/**
 * TRAP: no operator of PostgreSQL reads a JSON text with the character U+0000, so U+FFFD replaces it.
 * @param text an expression of JSON text
 * @returns an expression of JSON
 */
export function jsonIn(text: string): string {
  // An escaped backslash may precede the letters `u0000`. JSON has no character chr(1), which stands for it meanwhile.
  const pair = `${backslash} || ${backslash}`
  const replaced = `replace(replace(${text}, ${pair}, chr(1)), ${nul}, ${backslash} || 'ufffd')`
  return `replace(${replaced}, chr(1), ${pair})::json`
}

/** @param known columns of the existing table; empty if there is none */
function tableStatements(schema: string, { name, key, fields }: Resource, known: ReadonlySet<string>, hasKey: boolean) {
  const table = `${schema}.${name}`
  const columns = Object.entries(fields).map(([field, type]) => ({ column: columnNameOf(field), type }))
  const missing = columns.filter(({ column }) => !known.has(column))
  if (known.size === 0) {
    const primaryKey = hasKey ? [`PRIMARY KEY (${key.map(columnNameOf).join(', ')})`] : []
    const definitions = [...columns.map(({ column, type }) => `${column} ${type}`), ...primaryKey]
    return [`CREATE TABLE ${table} (${definitions.join(', ')})`]
  }
  if (missing.length === 0) return []
  return [
    ...missing.map(({ column, type }) => `ALTER TABLE ${table} ADD COLUMN ${column} ${type.replace(' NOT NULL', '')}`),
    // The next pass starts again and fills the columns. An empty table has nothing to fill.
    `INSERT INTO ${schema}.sync_state AS s (resource, new_columns)
    SELECT '${name}', '${missing.map(({ column }) => column)}' WHERE EXISTS (SELECT 1 FROM ${table})
    ON CONFLICT (resource) DO UPDATE
    SET since = NULL, next_since = NULL, cursor = NULL, new_columns = concat_ws(',', s.new_columns, excluded.new_columns)`,
  ]
}

function indexStatements(schema: string, { name, indexes, fields }: Resource): string[] {
  const statement = (columns: string, method: string) =>
    `CREATE INDEX IF NOT EXISTS ${name}_${columns.replaceAll(', ', '_')} ON ${schema}.${name} USING ${method} (${columns})`
  const statements = indexes.map((columns) => statement(columns, 'btree'))
  // Small, and enough to find the last rows (`storeAsOf`).
  return 'storedAt' in fields ? [...statements, statement('stored_at', 'brin')] : statements
}
