// Privileges of ClickHouse users, for embedded engines. `docs/clickhouse-users.sql` has the same for servers; a test compares
// them.

/** The engines of the tables that migrations create. All others are rejected: File, URL, S3 and more access files or other servers. */
export const tableEngines = ['ReplacingMergeTree', 'SummingMergeTree']

/** Creates tables and changes their columns. */
export function ownerGrants(database: string): string[] {
  return [
    `GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, OPTIMIZE ON ${database}.*`,
    ...tableEngines.map((engine) => `GRANT TABLE ENGINE ON ${engine}`),
  ]
}

/** Inserts, changes and deletes rows, ends its own queries, and sees which of its changes have ended on disk. */
export function writerGrants(database: string): string[] {
  return [
    `GRANT SELECT, INSERT, ALTER DELETE, ALTER UPDATE ON ${database}.*`,
    ...['processes', 'mutations', 'parts'].map((table) => `GRANT SELECT ON system.${table}`),
  ]
}

/** Reads rows. */
export function readerGrants(database: string): string[] {
  return [`GRANT SELECT ON ${database}.*`]
}

/** Settings of the reader, which its queries may not change. `max_memory_usage` is bytes per query. */
export const readerSettings = { readonly: '2', max_memory_usage: '4000000000' }
