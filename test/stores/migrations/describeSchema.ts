import type { ClickHouse } from '../../../src/stores/cluster/connection.ts'
import type { Postgres } from '../../../src/stores/postgres/connection.ts'

/** Describes the tables and views of a ClickHouse database as SQL, in the order of their names. */
export async function describeClickHouse({ client, database }: ClickHouse): Promise<string> {
  const result = await client.query({
    query: `
      SELECT formatQuery(replaceAll(create_table_query, concat({database:String}, '.'), '')) AS statement
      FROM system.tables
      WHERE database = {database:String} AND name != 'schema_migrations'
      ORDER BY engine = 'MaterializedView', name`,
    query_params: { database },
    format: 'JSONEachRow',
  })
  return asFile((await result.json<{ statement: string }>()).map(({ statement }) => statement))
}

/** Describes the tables, indexes, functions and triggers of a Postgres schema as SQL. */
export async function describePostgres(postgres: Postgres): Promise<string> {
  const statements = await postgres<{ statement: string }[]>`
    WITH tables AS (
      SELECT oid, relname FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname != 'schema_migrations'
    ), columns AS (
      SELECT attrelid, attnum::integer AS number, concat_ws(' ',
        format('  %I %s', attname, format_type(atttypid, atttypmod)),
        CASE WHEN attcollation = 'pg_catalog."C"'::regcollation THEN 'COLLATE "C"' END,
        CASE WHEN attnotnull THEN 'NOT NULL' END,
        CASE WHEN attidentity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END,
        CASE WHEN attgenerated = 's' THEN format('GENERATED ALWAYS AS (%s) STORED', pg_get_expr(adbin, adrelid))
          ELSE 'DEFAULT ' || pg_get_expr(adbin, adrelid) END) AS line
      FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attnum > 0 AND NOT attisdropped
    ), lines AS (
      SELECT * FROM columns
      UNION ALL
      -- PostgreSQL 18 has a constraint of type n for each column that is NOT NULL; earlier ones do not.
      SELECT conrelid, 10000 + row_number() OVER (ORDER BY contype DESC, conname)::integer,
        format('  CONSTRAINT %I %s', conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE contype != 'n' AND conrelid != 0
    )
    SELECT statement FROM (
      SELECT 1 AS kind, relname::text AS name,
        format(E'CREATE TABLE %I (\n%s\n)', relname, string_agg(line, E',\n' ORDER BY number)) AS statement
      FROM tables JOIN lines ON attrelid = oid GROUP BY relname
      UNION ALL
      SELECT 2, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
      FROM pg_index JOIN tables ON indrelid = oid
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
      UNION ALL
      SELECT 3, proname::text, trim(E'\n' FROM pg_get_functiondef(oid))
      FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
      UNION ALL
      SELECT 4, tgname::text, pg_get_triggerdef(pg_trigger.oid)
      FROM pg_trigger JOIN tables ON tgrelid = tables.oid WHERE NOT tgisinternal
    ) AS statements
    ORDER BY kind, name COLLATE "C"`
  return asFile(statements.map(({ statement }) => statement))
}

function asFile(statements: readonly string[]): string {
  const header = '-- Generated from a migrated store; see CONTRIBUTING.md. The reasons are in the migrations.'
  return `${[header, ...statements.map((statement) => `${statement};`)].join('\n\n')}\n`
}
