import { parseMillionths } from '../../query/money.ts'
import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import type { Selected } from '../../stores/clickhouse/tableColumns.ts'
import type { Writer } from '../fence/writer.ts'
import { type Conversion, conversionRowFields } from '../tables/conversion.ts'

/**
 * Reads all columns of conversions in their current version, which a change writes again as deleted.
 * @param where conditions besides the account, and the clauses that follow `WHERE`
 */
export async function readCurrentConversions(
  writer: Writer,
  where: Fragment,
  step: string,
  label: string,
): Promise<Conversion[]> {
  const query = ch`
SELECT ${selectFields(selectedFields)}
FROM conversions FINAL
WHERE ${writer.ofAccount}
  AND ${where}`
  const rows = await writer.select<Selected<typeof selectedFields>>(step, query, label)
  return rows.map((row) => ({
    ...row,
    accountId: writer.accountId,
    isDeleted: false,
    payout: millionths(row.payout),
    revenue: millionths(row.revenue),
    revenueBase: millionths(row.revenueBase),
  }))
}

const { accountId: _accountId, isDeleted: _isDeleted, ...selectedFields } = conversionRowFields

function millionths(decimal: string | null): bigint | null {
  return decimal === null ? null : parseMillionths(decimal)
}
