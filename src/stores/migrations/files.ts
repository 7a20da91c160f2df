import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError } from '../../expectedError.ts'
import { version } from '../../package.ts'

/** The stores cannot be migrated; the message is one line. */
export class MigrationError extends ExpectedError {}

/** One SQL file. Files run in the order of their names; the checksum detects an edit after a file has run. */
export interface Migration {
  name: string
  sql: string
  checksum: string
}

/** The record of a file that ran, as a store keeps it in `schema_migrations`. */
export interface AppliedMigration extends Pick<Migration, 'name' | 'checksum'> {
  /** Version that ran it; absent or empty in a store of a version that did not record it. */
  version?: string | null
}

export type StoreName = 'clickhouse' | 'postgres'

const cache = new Map<string, Promise<Migration[]>>()

/**
 * Reads the migrations of a store, in order; each folder once, since an upgrade replaces the files under a running process.
 * @param root the folder that contains `clickhouse/` and `postgres/`
 */
export function readMigrations(root: string, store: StoreName): Promise<Migration[]> {
  const folder = join(root, store)
  const migrations = cache.get(folder) ?? readFolder(folder)
  cache.set(folder, migrations)
  return migrations
}

async function readFolder(folder: string): Promise<Migration[]> {
  // `schema.sql` describes the result and is not a migration.
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort()
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * Finds the files that have not run on a store.
 * @param files all files of the store; the first one is the baseline
 * @throws MigrationError when the store has another baseline, or a later file has changed or is missing
 */
export function findPending(
  store: StoreName,
  files: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  const [baseline] = files
  const isBaseline = ({ name, checksum }: AppliedMigration) => name === baseline?.name && checksum === baseline.checksum
  if (baseline && applied.length > 0 && !applied.some(isBaseline)) {
    const [made] = applied.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    const maker = made?.version ? `version ${made.version}` : 'a version that is not recorded'
    throw new MigrationError(
      `${store}: the tables were created by another build, ${maker}, and this one, version ${version}, cannot upgrade them. Move each account: run "tributary account export" with the build that created the tables, then "tributary account import" with this one into empty stores.`,
    )
  }
  for (const { name, checksum } of applied) {
    const file = files.find((candidate) => candidate.name === name)
    if (!file) {
      throw new MigrationError(
        `${store}/${name} ran on this store, but this version does not have it; run a newer version.`,
      )
    }
    if (file.checksum !== checksum) {
      throw new MigrationError(`${store}/${name} has changed since it ran; restore it and add a new file instead.`)
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  return files.filter(({ name }) => !done.has(name))
}

/** Splits a file into statements. They end with a semicolon at the end of a line, so no text literal may contain one there. */
export function splitStatements(sql: string): string[] {
  return sql
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/--.*$/gm, '').trim() !== '')
}
