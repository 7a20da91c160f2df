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

/**
 * Settings of the reader, which its queries may not change. When the reader has used its memory, ClickHouse ends the query
 * that exceeds `memory_overcommit_ratio_denominator_for_user` most, so that small queries of other accounts continue.
 * @param memory bytes of one query, and of all queries of the reader together
 */
export function readerSettings(memory: { query: number; reader: number }): Record<string, string> {
  return {
    readonly: '2',
    max_memory_usage: `${memory.query}`,
    max_memory_usage_for_user: `${memory.reader}`,
  }
}
