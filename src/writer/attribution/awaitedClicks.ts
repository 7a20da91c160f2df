import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import type { WriteSession } from '../fence/session.ts'
import { KeyFilter } from '../storedKeys/keyFilter.ts'
import { accountsOf, hasKey, inAccounts, keyOfText, keyText } from '../tables/accountKeys.ts'
import type { Conversion } from '../tables/conversion.ts'
import { conversionTable } from '../upserts/changingTables.ts'
import { readCurrentRows } from '../upserts/currentRows.ts'

/**
 * The clicks for which stored conversions wait. A filter of them tells without a query that no conversion waits for a click; it
 * keeps the clicks that have arrived.
 */
export class AwaitedClicks extends KeyFilter {
  constructor(session: WriteSession) {
    const every = (accountIds: readonly string[]) => ch`
SELECT concat(account_id, ' ', click_id) AS key FROM conversions WHERE ${inAccounts(accountIds)} AND ${isUnattributed}`
    super(session, { name: 'awaited_clicks', every }, 'await')
  }

  /** Adds the clicks of the conversions that have not found theirs, before these are sent. */
  addClicksOf(conversions: readonly Conversion[]): void {
    const waiting = conversions.filter(({ clickId, clickAt }) => clickAt === null && clickId !== '')
    this.add(waiting.map(({ accountId, clickId }) => keyText({ accountId, id: clickId })))
  }

  /**
   * Call it while no insert of the process can change a row.
   * @param clicks keys as `keyText` writes them
   * @returns the current versions of the stored conversions that wait for these clicks
   */
  async readWaiting(clicks: readonly string[]): Promise<Conversion[]> {
    await this.fill(accountsOf(clicks.map(keyOfText)))
    const keys = this.candidatesOf(clicks).map(keyOfText)
    if (keys.length === 0) return []
    const accountIds = accountsOf(keys)
    const where = ch`${inAccounts(accountIds)}
  AND ${isWaiting(accountIds, hasKey(keys, 'click_id'))}`
    return await readCurrentRows(this.session, conversionTable, where, 'looking for late clicks', 'import.late_clicks')
  }
}

const isUnattributed = ch`click_at IS NULL AND click_id != ''`

/**
 * Condition: a conversion has not found its click. The keys are found without FINAL, which then reads few rows.
 * @param isOfClick condition on the click
 */
export function isWaiting(accountIds: readonly string[], isOfClick: Fragment): Fragment {
  return ch`${isUnattributed}
  AND (account_id, converted_at, id) IN (
    SELECT account_id, converted_at, id FROM conversions
    WHERE ${inAccounts(accountIds)} AND ${isUnattributed} AND ${isOfClick})`
}
