import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { type ChangingResource, changing, columnOf, metadata, type Resource } from '../source/resources.ts'
import { countriesStatement } from './countries.ts'
import { viewNames, viewStatements } from './views.ts'

const resources: readonly Resource[] = [...changing, ...metadata]

/**
 * Creates the schema, tables, indexes, views and functions of a copy, and adds columns that a newer version has. The same
 * statement notes new columns of a table with rows, so that they are filled. All statements are sent as one query, which PostgreSQL executes as a whole or
 * not at all, also through a pooler that has a session per statement.
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
    Object.keys(fields).some((field) => !columns.get(name)?.has(columnOf(field))),
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

/** Tables of the account, of how far each resource is copied, and of how far the new columns of each resource are filled. */
function stateStatements(schema: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_state (
      resource text PRIMARY KEY, first_day date, since text, next_since text, cursor text)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_source (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), account_id text NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.sync_fill (
      resource text PRIMARY KEY, columns text[] NOT NULL, first_day date NOT NULL, cursor text)`,
  ]
}

/** @param known columns of the existing table; empty if there is none */
function tableStatements(schema: string, resource: Resource, known: ReadonlySet<string>): string[] {
  const { name, key, fields, indexes } = resource
  const columns = Object.entries(fields).map(([field, type]) => ({ column: columnOf(field), type }))
  const missing = columns.filter(({ column }) => !known.has(column))
  const list = columns.map(({ column, type }) => `${column} ${type}`).join(', ')
  return [
    ...(known.size === 0
      ? [`CREATE TABLE ${schema}.${name} (${list}, PRIMARY KEY (${key.map(columnOf).join(', ')}))`]
      : missing.map(
          ({ column, type }) => `ALTER TABLE ${schema}.${name} ADD COLUMN ${column} ${type.replace(' NOT NULL', '')}`,
        )),
    ...(known.size > 0 && missing.length > 0
      ? [
          fillStatement(
            schema,
            resource,
            missing.map(({ column }) => column),
          ),
        ]
      : []),
    ...indexes.map(
      (index) => `CREATE INDEX IF NOT EXISTS ${name}_${index.replaceAll(', ', '_')} ON ${schema}.${name} (${index})`,
    ),
  ]
}

/** Notes new columns, and the day of the first row to fill; nothing for an empty table. */
function fillStatement(schema: string, resource: Resource, added: readonly string[]): string {
  const time = 'time' in resource ? columnOf((resource as ChangingResource).time) : 'created_at'
  return `INSERT INTO ${schema}.sync_fill AS f (resource, columns, first_day)
    SELECT '${resource.name}', '{${added.join(', ')}}', coalesce(min(${time}) AT TIME ZONE 'UTC', 'epoch')::date
    FROM ${schema}.${resource.name}
    HAVING count(*) > 0
    ON CONFLICT (resource) DO UPDATE
    SET columns = f.columns || excluded.columns, first_day = excluded.first_day, cursor = NULL`
}
