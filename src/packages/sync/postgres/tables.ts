import type { Sql } from 'postgres'
import { changing, columnOf, metadata, type Resource } from '../resources.ts'
import { viewNames, viewStatements } from './views.ts'

/**
 * Creates the schema, tables, indexes, views and functions of a copy, and adds columns that a newer version has. A table with
 * new columns is filled again from the start.
 * @param schema a checked name
 */
export async function createTables(sql: Sql, schema: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await tx.unsafe(`CREATE TABLE IF NOT EXISTS ${schema}.sync_state (
      resource text PRIMARY KEY, first_day date, since text, next_since text, cursor text)`)
    await tx.unsafe(`CREATE TABLE IF NOT EXISTS ${schema}.sync_source (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), account_id text NOT NULL)`)
    for (const resource of [...changing, ...metadata]) {
      const added = await createTable(tx, schema, resource)
      if (!added) continue
      await tx.unsafe(`DELETE FROM ${schema}.sync_state WHERE resource = $1`, [resource.name])
      // A view has the columns of its table; a replacement can only append some.
      for (const view of viewNames) await tx.unsafe(`DROP VIEW IF EXISTS ${schema}.${view}`)
    }
    for (const statement of viewStatements(schema)) await tx.unsafe(statement)
  })
}

/** @returns whether an existing table has new columns */
async function createTable(
  tx: Pick<Sql, 'unsafe'>,
  schema: string,
  { name, fields, indexes }: Resource,
): Promise<boolean> {
  const columns = Object.entries(fields).map(([field, type]) => ({ column: columnOf(field), type }))
  const known = await tx.unsafe<{ column: string }[]>(
    'SELECT column_name AS column FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
    [schema, name],
  )
  const missing = columns.filter(({ column }) => !known.some((it) => it.column === column))
  if (known.length === 0) {
    const list = columns.map(({ column, type }) => `${column} ${type}`).join(', ')
    await tx.unsafe(`CREATE TABLE ${schema}.${name} (${list})`)
  } else {
    for (const { column, type } of missing) {
      await tx.unsafe(`ALTER TABLE ${schema}.${name} ADD COLUMN ${column} ${type.replace(' NOT NULL', '')}`)
    }
  }
  for (const index of indexes) {
    const indexName = `${name}_${index.replace(/, /g, '_')}`
    await tx.unsafe(`CREATE INDEX IF NOT EXISTS ${indexName} ON ${schema}.${name} (${index})`)
  }
  return known.length > 0 && missing.length > 0
}
