import { parseMillionths } from '../../query/money.ts'
import { selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, text } from '../../stores/clickhouse/sql.ts'
import type { Selected } from '../../stores/clickhouse/tableColumns.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../lease/writer.ts'
import { type Conversion, conversionRowFields } from '../tables/conversion.ts'

/**
 * Reads all columns of conversions in their current version, which a change writes again as deleted.
 * @param where conditions besides the account, and the clauses that follow `WHERE`
 * @param purpose `step` for messages, `label` for ClickHouse's query log
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function readCurrentConversions(
  writer: Writer,
  where: Fragment,
  purpose: { step: string; label: string },
): Promise<Conversion[]> {
  const query = ch`
SELECT ${selectFields(selectedFields)}
FROM conversions FINAL
WHERE account_id = ${text(writer.accountId)}
  AND ${where}`
  const rows = await retryWhileUnavailable(
    purpose.step,
    () => selectRows<Selected<typeof selectedFields>>(writer.stores.clickhouse, query, { label: purpose.label }),
    writer,
  )
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
