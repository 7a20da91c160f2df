import { parseMillionths } from '../../query/money.ts'
import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import type { Selected } from '../../stores/clickhouse/tableColumns.ts'
import type { WriteSession } from '../fence/writer.ts'
import { type AccountKey, accountsOf, hasKey, inAccounts, keyText } from '../tables/accountKeys.ts'
import { type Conversion, conversionRowFields } from '../tables/conversion.ts'

/**
 * Reads all columns of conversions in their current version, which a change writes again as deleted.
 * @param where conditions, the account first, and the clauses that follow `WHERE`
 */
export async function readCurrentConversions(
  session: WriteSession,
  where: Fragment,
  step: string,
  label: string,
): Promise<Conversion[]> {
  const query = ch`
SELECT account_id AS accountId, ${selectFields(selectedFields)}
FROM conversions FINAL
WHERE ${where}`
  type Row = Selected<typeof selectedFields> & { accountId: string }
  const rows = await session.select<Row>(step, query, label)
  return rows.map((row) => ({
    ...row,
    isDeleted: false,
    payout: millionths(row.payout),
    revenue: millionths(row.revenue),
    revenueBase: millionths(row.revenueBase),
  }))
}

/** @returns the current versions of the conversions with these keys, by `keyText` */
export async function readStoredConversions(
  session: WriteSession,
  keys: readonly AccountKey[],
): Promise<Map<string, Conversion>> {
  if (keys.length === 0) return new Map()
  const where = ch`${inAccounts(accountsOf(keys))}
  AND (account_id, converted_at, id) IN (SELECT account_id, converted_at, id FROM conversion_index WHERE ${hasKey(keys)})`
  const rows = await readCurrentConversions(session, where, 'looking up conversions', 'import.stored_conversions')
  return new Map(rows.map((row) => [keyText(row), row]))
}

const { accountId: _accountId, isDeleted: _isDeleted, ...selectedFields } = conversionRowFields

function millionths(decimal: string | null): bigint | null {
  return decimal === null ? null : parseMillionths(decimal)
}
