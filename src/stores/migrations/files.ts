import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError } from '../../expectedError.ts'
import { commit, isLater, version } from '../../package.ts'

/** The stores cannot be used or migrated; the message is one line. */
export class MigrationError extends ExpectedError {}

/** One SQL file. Files run in the order of their names. */
export interface Migration {
  name: string
  sql: string
  /** Hash of the statements, to detect an edit after the file has run. */
  checksum: string
  /** Programs from this version on may read the tables, and store events, once a statement of the file has run. */
  readableFrom: string
  /** Programs from this version on may also write what an account's lease protects. */
  writableFrom: string
}

/** A row of `schema_migrations`. A store that another build created may lack some of its columns. */
export interface MigrationRecord extends Pick<Migration, 'name' | 'checksum'> {
  /** Version and commit that ran the file. */
  version?: string
  commit?: string
  readable_from?: string
  writable_from?: string
  /** Of ClickHouse: false from before the first statement until after the last one. */
  is_complete?: boolean
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
      // Comments may be corrected later.
      const statements = sql.replace(comments, '').replace(/\s+/g, ' ').trim()
      const checksum = createHash('sha256').update(statements).digest('hex')
      const readableFrom = /^-- readable from: (\S+)$/m.exec(sql)?.[1] ?? version
      const writableFrom = /^-- writable from: (\S+)$/m.exec(sql)?.[1] ?? version
      return { name, sql, checksum, readableFrom, writableFrom }
    }),
  )
}

/** @returns the record of a file that this program runs */
export function recordOf({ name, checksum, readableFrom, writableFrom }: Migration) {
  return { name, checksum, version, commit, readable_from: readableFrom, writable_from: writableFrom }
}

/**
 * Finds the files that have not run on a store, or not to their end. Files of a later version may have run if it allows that.
 * @param files all files of the store; the first one is the baseline
 * @throws MigrationError when the store has another baseline, a file has changed since it ran, or this version is too old for it
 */
export function findPending(
  store: StoreName,
  files: readonly Migration[],
  records: readonly MigrationRecord[],
  use: 'read' | 'write' = 'read',
): Migration[] {
  const [baseline] = files
  const isBaseline = ({ name, checksum }: MigrationRecord) => name === baseline?.name && checksum === baseline.checksum
  if (baseline && records.length > 0 && !records.some(isBaseline)) {
    const [made] = records.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    throw new MigrationError(
      `${store}: the tables were created by another build, ${describeBuild(made)}, and this one, ${describeBuild({ version, commit })}, cannot upgrade them. ${moveAccounts('the build that created the tables')}`,
    )
  }
  for (const record of records) {
    const file = files.find(({ name }) => name === record.name)
    if (!file) assertAllowed(store, record, use)
    else if (file.checksum !== record.checksum) {
      throw new MigrationError(
        `${store}/${file.name} has changed since ${describeBuild(record)} ran it; restore it and add a new file instead.`,
      )
    }
  }
  const done = new Set(records.filter(({ is_complete: isComplete = true }) => isComplete).map(({ name }) => name))
  return files.filter(({ name }) => !done.has(name))
}

/** @throws MigrationError when a file of a later version has changed the tables in a way that this version does not know */
function assertAllowed(store: StoreName, record: MigrationRecord, use: 'read' | 'write'): void {
  const { name, readable_from: readableFrom, writable_from: writableFrom } = record
  const from = (use === 'read' ? readableFrom : writableFrom) || record.version
  if (from && !isLater(from, version)) return
  const build = describeBuild(record)
  throw new MigrationError(
    `${store}/${name} of ${build} has changed the tables, and only version ${from || 'that'} or later may ${use} them; this is ${describeBuild({ version, commit })}. Run the later version. ${moveAccounts('the later version')}`,
  )
}

function moveAccounts(from: string): string {
  return `To use this version, move each account: run "tributary account export" with ${from}, then "tributary account import" with this one into empty stores.`
}

function describeBuild(build: Pick<MigrationRecord, 'version' | 'commit'> | undefined): string {
  if (!build?.version) return 'a version that is not recorded'
  return `version ${build.version} (commit ${build.commit || 'unknown'})`
}

const comments = /--.*/g

/** Splits a file into statements. They end with a semicolon at the end of a line, so no text literal may contain one there. */
export function splitStatements(sql: string): string[] {
  return sql
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(comments, '').trim() !== '')
}
