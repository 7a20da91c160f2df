import { setImmediate as immediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { idPattern } from '../../schema/scalars.ts'
import { findAccounts } from '../accounts/accounts.ts'
import type { Line } from '../import/parsers/lines.ts'
import { type RawRow, rawRowOf } from '../import/parsers/ndjsonParser.ts'
import { RowError } from '../import/readers/rowError.ts'
import { isAbsent } from '../import/readers/rowReader.ts'
import { type ImportName, importNames, importTables } from '../import/resourceNames.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { Turn } from '../stores/timing/turn.ts'
import type { FeedRow, RejectedRow, RowOrigin } from './rows.ts'

/** Limit of a row, far above the size of any valid one: parsing JSON takes up to 1 µs a byte. */
export const rowBytesMax = 128 << 10

const accountIds = new RegExp(idPattern)
const accountsMax = 20_000
/** An account that was unknown is looked up again after this time: it may have been created. */
const unknownMs = 5_000

/** Opens what finds the account of each line of JSON. @returns the function that reads the rows of lines, in their order; blank lines are none */
export function openFeedReader(postgres: Postgres) {
  /**
   * Accounts that exist or were deleted: an id is never used again. TRAP: rows have the ids of this cache, since the text of a parsed
   * field may keep the text of all lines in memory.
   */
  const accounts = new LRUCache<string, string>({ max: accountsMax })
  const unknown = new LRUCache<string, true>({ max: accountsMax, ttl: unknownMs })

  /** @returns the accounts of rows that exist */
  async function findAccountsOf(rows: readonly Pick<RawRow, 'fields'>[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const wanted = new Set<string>()
    for (const { fields } of rows) {
      const id = fields instanceof RowError ? undefined : fields.accountId
      if (typeof id !== 'string' || found.has(id) || wanted.has(id) || unknown.has(id) || !accountIds.test(id)) continue
      const known = accounts.get(id)
      if (known === undefined) wanted.add(id)
      else found.set(id, known)
    }
    if (wanted.size === 0) return found
    for (const { id } of await findAccounts(postgres, [...wanted])) {
      accounts.set(id, id)
      found.set(id, id)
    }
    for (const id of wanted) if (!found.has(id)) unknown.set(id, true)
    return found
  }

  return async (lines: readonly Line[], origin: RowOrigin): Promise<(FeedRow | RejectedRow)[]> => {
    const turn = new Turn()
    const rows: RawRow[] = []
    for (const line of lines) {
      if (turn.isOver(line.text.length)) await immediate()
      // Numbers are read exactly when the row is stored.
      const row = rawRowOf(line, JSON.parse)
      if (row) rows.push(row)
    }
    const accountOf = await findAccountsOf(rows)
    return rows.map(({ fields, text }) => {
      const bytes = Buffer.from(text)
      if (fields instanceof RowError) return { resource: '', bytes, reason: fields.message }
      const { resource } = fields
      if (!isResource(resource))
        return { resource: '', bytes, reason: `resource: must be one of ${importNames.join(', ')}` }
      const accountId = accountOf.get(fields.accountId as string)
      if (accountId === undefined) {
        const fault = typeof fields.accountId === 'string' ? 'there is no such account' : 'must be text'
        return { resource, bytes, reason: `accountId: ${isAbsent(fields.accountId) ? 'is required' : fault}` }
      }
      const isChanging = ['conversions', 'costs'].includes(importTables[resource])
      const line = isChanging ? origin.nextLine() : 0
      return { accountId, resource, bytes, origin, line }
    })
  }
}

const isResource = (name: unknown): name is ImportName => importNames.includes(name as ImportName)
