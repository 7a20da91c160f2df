import { ch, type Fragment, identifier, instant, join, nothing } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { deleteFound } from '../fence/mutations.ts'
import type { WriteSession } from '../fence/session.ts'
import { inAccounts } from '../tables/accountKeys.ts'
import { groupBy } from '../tables/groupBy.ts'
import { inSpan, type Span } from './sumsTables.ts'

/** Rebuilds the indexes of rows that change, and `converted_clicks`: deletes wrong rows, inserts missing ones. Compares the whole accounts. */
export async function rebuildIndexes(session: WriteSession, accountIds: readonly string[]): Promise<void> {
  const removed = await readRemovedCosts(session, accountIds)
  for (const derivation of derivations(accountIds, removed)) await rebuild(session, derivation)
}

/** @returns the condition of rows of `cost_index` of months whose costs were removed; undefined: there are none */
export async function readRemovedCosts(session: WriteSession, accountIds: readonly string[]) {
  const ranges = [...(await session.readRangesByAccount(accountIds))].filter(([, { clicksMs }]) => clicksMs > 0)
  const byStart = groupBy(ranges, ([, { clicksMs }]) => clicksMs)
  const conditions = Array.from(byStart, ([clicksMs, ofStart]) => {
    return ch`(${inAccounts(ofStart.map(([id]) => id))} AND spent_at < ${instant(clicksMs)})`
  })
  return conditions.length === 0 ? undefined : ch`(${join(conditions, ' OR ')})`
}

/** @param removed as `readRemovedCosts` returns it: the ids of removed costs remain, so that none of them is stored again at a later time */
export function derivations(accountIds: readonly string[], removed: Fragment | undefined): Derivation[] {
  const ofAccounts = inAccounts(accountIds)
  const present = removed ? ch`${ofAccounts} AND NOT ${removed}` : ofAccounts
  const derivation = (name: string, key: Fragment, columns: Fragment, derived: Fragment, compared = ofAccounts) => {
    const stored = ch`SELECT ${columns} FROM ${identifier(name)} FINAL WHERE ${compared}`
    return { name, columns, among: ofAccounts, key, stored, derived }
  }
  const indexOf = (name: string, table: 'conversions' | 'costs', compared: Fragment) => {
    const columns = ch`account_id, id, version, ${timeColumns[table]}`
    const derived = ch`SELECT ${columns} FROM ${identifier(table)} FINAL WHERE ${compared}`
    return derivation(name, ch`account_id, id`, columns, derived, compared)
  }
  const converted = ch`account_id, clicked_at, click_id, conversion_id, version, is_deleted, is_test, campaign_id, offer_id`
  const ofConversions = ch`
SELECT account_id, assumeNotNull(click_at) AS clicked_at, click_id, id AS conversion_id, version, is_deleted, is_test,
  click_campaign_id AS campaign_id, click_offer_id AS offer_id
FROM conversions FINAL
WHERE ${ofAccounts} AND click_at IS NOT NULL`
  return [
    indexOf('conversion_index', 'conversions', ofAccounts),
    indexOf('cost_index', 'costs', present),
    derivation('converted_clicks', ch`account_id, clicked_at, click_id, conversion_id`, converted, ofConversions),
  ]
}

/**
 * The index of the clicks of a span. A click missing in it would be stored twice, an indexed id without a click never; a wrong campaign
 * would get its events.
 */
export function clickIndexOf(span: Span): Derivation {
  const columns = ch`account_id, id, clicked_at, campaign_id`
  const among = inSpan(span)
  const stored = ch`SELECT ${columns} FROM click_index WHERE ${among}`
  return { name: 'click_index', columns, among, stored, derived: ch`SELECT ${columns} FROM clicks WHERE ${among}` }
}

/** A table that is derived from the rows of accounts. */
interface Derivation {
  name: string
  columns: Fragment
  /** Condition on the rows of the table that may be deleted. */
  among: Fragment
  /** The sort key of rows that have versions. */
  key?: Fragment
  /** SELECT of the stored rows, in their latest versions. */
  stored: Fragment
  derived: Fragment
}

/**
 * SELECT of the rows that are missing, wrong or superfluous, with all columns.
 * TRAP: ClickHouse 26.7 cannot run two NOT IN under UNION ALL over the tables of a cluster inside another query.
 */
export function mismatches({ columns, stored, derived }: Derivation): Fragment {
  return ch`
SELECT ${columns}
FROM (
  SELECT ${columns}, true AS is_derived FROM (${derived})
  UNION ALL
  SELECT ${columns}, false AS is_derived FROM (${stored}))
GROUP BY ${columns}
HAVING min(is_derived) = max(is_derived)`
}

/** Deletes wrong rows, and inserts missing ones. Idempotent. */
export async function rebuild(session: WriteSession, derivation: Derivation): Promise<void> {
  const { name, columns, among, key, stored, derived } = derivation
  const label = `rebuild.${name}`
  const wrong = mismatches(derivation)
  const [row] = await session.select(`comparing ${name}`, ch`${wrong} LIMIT 1`, label)
  if (!row) return
  const insertion = (inTime: Fragment) => ch`
INSERT INTO ${identifier(name)} (${columns})
SELECT ${columns}
FROM (${derived})
WHERE (${columns}) NOT IN (${stored})
  AND ${inTime}`
  const insert = () => session.insert(`rebuilding ${name}`, label, insertion)
  // Before the deletion, so that an interruption removes no correct row. A wrong row with a higher version hides the correct one.
  if (key) await insert()
  const ofWrong = key ? ch`AND (${key}) IN (SELECT ${key} FROM (${wrong}))` : nothing
  const superfluous = ch`${among} ${ofWrong} AND (${columns}) NOT IN (${derived})`
  await deleteFound(session, identifier(name), columns, superfluous, label)
  // TRAP: of rows without versions a merge keeps the one inserted last, which may be a wrong one that the deletion has yet to find.
  if (!key) await insert()
}
