import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { changing, columnNameOf, metadata, type Resource } from '../source/resources.ts'
import { countriesStatement } from './countries.ts'
import { viewNames, viewStatements } from './views.ts'

const resources: readonly Resource[] = [...changing, ...metadata]

/**
 * Creates the schema, tables, indexes, views and functions of a copy, and adds columns that a newer version has; for a table
 * with rows, it notes them to be filled. All statements are sent as one query, which PostgreSQL executes as a whole or not at
 * all, also through a pooler that has a session per statement.
 * @param schema a checked name
 */
export async function createTables(sql: Sql, schema: string): Promise<void> {
  const found = await sql.unsafe<{ table: string; column: string }[]>(
    'SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = $1',
    [schema],
  )
  const columns = new Map(resources.map(({ name }) => [name, new Set<string>()]))
  for (const { table, column } of found) columns.get(table)?.add(column)
  const incomplete = resources.filter(({ name, fields }) =>
    Object.keys(fields).some((field) => !columns.get(name)?.has(columnNameOf(field))),
  )
  const states = stateStatements(schema)
  const views = [countriesStatement(schema), ...viewStatements(schema)]
  const version = createHash('sha256')
    .update([...states, ...views].join(';'))
    .digest('hex')
  const [current] = await sql.unsafe<[{ version: string | null }]>(
    `SELECT obj_description(to_regclass($1), 'pg_class') AS version`,
    [`${schema}.sync_state`],
  )
  // Nothing to do: replacing a view waits for the queries that read it.
  if (incomplete.length === 0 && current.version === version) return
  const isExtended = incomplete.some(({ name }) => columns.get(name)?.size)
  await sql.unsafe(
    [
      `CREATE SCHEMA IF NOT EXISTS ${schema}`,
      ...states,
      // A view has the columns of its table; a replacement can only append some.
      ...(isExtended ? viewNames.map((view) => `DROP VIEW IF EXISTS ${schema}.${view}`) : []),
      ...resources.flatMap((resource) => tableStatements(schema, resource, columns.get(resource.name) ?? new Set())),
      ...views,
      `COMMENT ON TABLE ${schema}.sync_state IS '${version}'`,
    ].join(';\n'),
  )
}

/** Tables of the account, and of how far each resource is copied. */
function stateStatements(schema: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_state (
      resource text PRIMARY KEY, first_day date, since text, next_since text, cursor text, new_columns text)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_source (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), account_id text NOT NULL)`,
  ]
}

/** @param known columns of the existing table; empty if there is none */
function tableStatements(schema: string, resource: Resource, known: ReadonlySet<string>): string[] {
  const { name, key, fields, indexes } = resource
  const table = `${schema}.${name}`
  const columns = Object.entries(fields).map(([field, type]) => ({ column: columnNameOf(field), type }))
  const missing = columns.filter(({ column }) => !known.has(column))
  const list = columns.map(({ column, type }) => `${column} ${type}`).join(', ')
  const creation = [`CREATE TABLE ${table} (${list}, PRIMARY KEY (${key.map(columnNameOf).join(', ')}))`]
  const extension = [
    ...missing.map(({ column, type }) => `ALTER TABLE ${table} ADD COLUMN ${column} ${type.replace(' NOT NULL', '')}`),
    // The next pass starts again and fills the columns. An empty table has nothing to fill.
    `INSERT INTO ${schema}.sync_state AS s (resource, new_columns)
    SELECT '${name}', '${missing.map(({ column }) => column)}' WHERE EXISTS (SELECT FROM ${table})
    ON CONFLICT (resource) DO UPDATE
    SET since = NULL, next_since = NULL, cursor = NULL, new_columns = concat_ws(',', s.new_columns, excluded.new_columns)`,
  ]
  return [
    ...(known.size === 0 ? creation : missing.length > 0 ? extension : []),
    ...indexes.map((of) => `CREATE INDEX IF NOT EXISTS ${name}_${of.replaceAll(', ', '_')} ON ${table} (${of})`),
  ]
}
