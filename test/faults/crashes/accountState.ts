import type { Stores } from '../../../src/stores/open.ts'
import { contentOf } from '../../writer/retention/retainedAccount.ts'

/** Columns with ids, secrets and times, which differ between two accounts with the same history. */
const ownColumns = new Set([
  ...`account_id user_id id name import_of hash key prefix replaced_by token fence created_at updated_at recorded_at
    began_at completed_at erased_at stored_at last_row_at expires_at revoked_at last_used_at`.split(/\s+/),
  // It never decreases: an interrupted repair may have read a row that it then deletes.
  'data_through',
])

/**
 * Reads everything that both databases have of an account, so that two accounts with the same history have equal lines: of
 * ids, secrets and times only whether they are set. Tasks are left out: the next writer completes them. Of the audit log it
 * has each action once, since a repeated command may add an entry.
 * @returns a line per row, in no fixed order
 */
export async function stateOf(stores: Stores, account: string): Promise<string[]> {
  const lines: string[] = []
  for (const { name, rows } of await tablesOf(stores.postgres, account)) {
    if (name === 'account_tasks') continue
    const described = rows.map((row) => (name === 'audit_log' ? `${row.action}` : JSON.stringify(row, withoutOwn)))
    lines.push(...numbered(name === 'audit_log' ? new Set(described) : described).map((line) => `${name} ${line}`))
  }
  const content: { table: string; rows: object[] }[] = JSON.parse(await contentOf(stores, account))
  for (const { table, rows } of content)
    lines.push(...numbered(rows.map((row) => JSON.stringify(row))).map((line) => `${table} ${line}`))
  return lines
}

/** @returns a line per row of an account in Postgres, as it is stored, in the order of table and row */
export async function postgresRowsOf(postgres: Stores['postgres'], account: string): Promise<string[]> {
  const tables = await tablesOf(postgres, account)
  return tables.flatMap(({ name, rows }) => rows.map((row) => `${name} ${JSON.stringify(row)}`))
}

async function tablesOf(postgres: Stores['postgres'], account: string) {
  const tables = await postgres<{ name: string; accountColumn: string }[]>`
    SELECT table_name AS name, column_name AS "accountColumn" FROM information_schema.columns
    WHERE table_schema = 'public'
      AND (column_name = 'account_id' OR (table_name = 'accounts' AND column_name = 'id'))
    ORDER BY name`
  const found: { name: string; rows: Record<string, unknown>[] }[] = []
  for (const { name, accountColumn } of tables) {
    const rows = await postgres<{ row: Record<string, unknown> }[]>`
      SELECT to_jsonb(stored) AS row FROM ${postgres(name)} AS stored WHERE ${postgres(accountColumn)} = ${account} ORDER BY row`
    found.push({ name, rows: rows.map(({ row }) => row) })
  }
  return found
}

function withoutOwn(column: string, value: unknown): unknown {
  // Whether a key that was never used is marked as shown makes no difference to its users.
  if (column === 'shown_at') return undefined
  return ownColumns.has(column) ? value !== null : value
}

/** Adds a number to equal lines, so that a set of them shows how many there are. */
function numbered(lines: Iterable<string>): string[] {
  const counts = new Map<string, number>()
  return [...lines].map((line) => {
    const count = (counts.get(line) ?? 0) + 1
    counts.set(line, count)
    return `${count}: ${line}`
  })
}

/** @returns a message per line that only one of the lists has; order does not matter */
export function differing(what: string, stored: readonly string[], expected: readonly string[]): string[] {
  const [present, wanted] = [new Set(stored), new Set(expected)]
  return [
    ...expected.filter((line) => !present.has(line)).map((line) => `${what}: ${line} is missing`),
    ...stored.filter((line) => !wanted.has(line)).map((line) => `${what}: ${line} is wrong or superfluous`),
  ]
}
