// Privileges in embedded engines. `docs/clickhouse-users.sql` has them for servers; a test compares both.

/** The engines of the tables that migrations create. All others are rejected: File, URL, S3 and more access files or other servers. */
export const tableEngines = ['ReplacingMergeTree', 'SummingMergeTree']

/** Creates tables, changes their columns, and sees when stored rows have the change. */
export const ownerGrants = (database: string): string[] => [
  `GRANT SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, OPTIMIZE ON ${database}.*`,
  'GRANT SELECT ON system.mutations',
  ...tableEngines.map((engine) => `GRANT TABLE ENGINE ON ${engine}`),
]

/** `doctor` compares the size of ClickHouse's logs with the data. Nothing else needs it, and users of version 1.0 lack it. */
export const logsGrant = 'GRANT SHOW TABLES ON system.*'

/** `verify` and `doctor` compare files with their checksums. Users of versions before 1.2 lack it. */
export const checkGrant = (database: string) => `GRANT CHECK ON ${database}.*`

/** Inserts, changes and deletes rows, compares files with checksums, ends its own queries, and sees which of its changes have ended on disk, and the size of ClickHouse's logs. */
export const writerGrants = (database: string): string[] => [
  `GRANT SELECT, INSERT, ALTER DELETE, ALTER UPDATE ON ${database}.*`,
  ...['processes', 'mutations', 'parts'].map((table) => `GRANT SELECT ON system.${table}`),
  logsGrant,
  checkGrant(database),
]

export const readerGrants = (database: string): string[] => [`GRANT SELECT ON ${database}.*`]

/**
 * Settings that the reader's queries may not change. When its memory is used up, ClickHouse ends the largest query.
 * @param memory bytes of one query, and of all queries of the reader together
 */
export function readerSettings(memory: { query: number; reader: number }): Record<string, string> {
  return {
    readonly: '2',
    max_memory_usage: `${memory.query}`,
    max_memory_usage_for_user: `${memory.reader}`,
  }
}
