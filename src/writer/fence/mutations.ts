import { matchNothingAfter, NotBegun } from '../../stores/clickhouse/insert.ts'
import { areMutationsDone, unwaited } from '../../stores/clickhouse/mutations.ts'
import { ch, count, type Fragment, render, text } from '../../stores/clickhouse/sql.ts'
import { isAnyOf } from '../../stores/clickhouse/textList.ts'
import { firstReplicasOf, nodesOf } from '../../stores/cluster/connection.ts'
import { runOnEveryNode } from '../../stores/cluster/everyNode.ts'
import { accountsOf } from '../tables/accountKeys.ts'
import { Writer, type WriteSession } from './session.ts'

/** A mutation of a replicated table must fit into one value of Keeper, 1 MB; a key, or the id and the copy of a click, has up to 400 bytes. */
export const keysPerMutation = 2_000

/**
 * Changes rows of a table on every node until none matches.
 * @param change a mutation without its condition
 * @param where the account first; evaluated on each node over its own tables; a changed row does not match it. On replicas it has no
 *   subquery, which each replica would evaluate at another time
 */
export function changeRows(session: WriteSession, table: Fragment, change: Fragment, where: Fragment, label: string) {
  const matching = ch`SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`
  const { clickhouse } = session.stores
  const remain = async () => (await session.selectOnEveryNode('changing rows', matching, label)).length > 0
  const isOfTable = ch`table = ${text(render(table).text)}`
  // A writer also waits for mutations of a session, which name several accounts.
  const mayBeSame = session instanceof Writer ? ch`position(command, ${text(`'${session.accountId}'`)}) > 0` : isOfTable
  const waitForSame = () =>
    waitForMutations(session, () => mayBeSame, label, 'Waiting until ClickHouse has changed the rows.')
  return session.retry('changing rows', async () => {
    await session.waitForEarlierStatements()
    if (!(await remain())) return
    // Mutations of an earlier attempt, or of an earlier writer, may do the same.
    if ((await waitForSame()) && !(await remain())) return
    await session.fence.run(async ({ deadlineMs, queryId }) => {
      const statement = ch`${change} WHERE ${where} AND ${matchNothingAfter(deadlineMs)} ${unwaited}`
      await runOnEveryNode(clickhouse, statement, label, { queryId, nodes: firstReplicasOf(clickhouse) })
      // Before it, the other replicas may not know the mutation.
      await session.waitForReplicas(isOfTable)
      await waitForSame()
      // A mutation that began after its deadline changes nothing, and ClickHouse reports no error.
      if (await remain()) throw new NotBegun()
    })
  })
}

/**
 * Deletes rows until none is left, as `changeRows` does.
 * @param kind `mark` hides the rows until a merge removes them; `rewrite` removes them from the parts before it returns
 */
export function deleteRows(
  session: WriteSession,
  table: Fragment,
  where: Fragment,
  label: string,
  kind: 'mark' | 'rewrite' = 'mark',
): Promise<void> {
  const deletion = kind === 'mark' ? ch`DELETE FROM ${table}` : ch`ALTER TABLE ${table} DELETE`
  return changeRows(session, table, deletion, where, label)
}

/**
 * Deletes rows until none is left, as `deleteRows` does, by a condition that may have subqueries. Replicas get the keys of the rows.
 * @param key the columns that tell the rows apart, with the account
 */
export async function deleteFound(
  session: WriteSession,
  table: Fragment,
  key: Fragment,
  where: Fragment,
  label: string,
): Promise<void> {
  if (!session.stores.clickhouse.cluster?.isReplicated) return await deleteRows(session, table, where, label)
  const keyOfRow = ch`toString((${key}))`
  const query = ch`
SELECT DISTINCT account_id AS accountId, ${keyOfRow} AS key
FROM ${table}
WHERE ${where}
LIMIT ${count(keysPerMutation)}`
  for (;;) {
    const found = await session.selectOnEveryNode<{ accountId: string; key: string }>('changing rows', query, label)
    const some = found.slice(0, keysPerMutation)
    if (some.length === 0) return
    const keys = some.map((row) => row.key)
    const isFound = ch`${isAnyOf(ch`account_id`, accountsOf(some))} AND ${isAnyOf(keyOfRow, keys)}`
    await deleteRows(session, table, isFound, label)
  }
}

/**
 * Waits until no mutation is left on any node.
 * @param which condition on `system.mutations`, for each poll @param message is announced once when the wait is long
 * @returns whether there were any
 * @throws what `areMutationsDone` throws
 */
export async function waitForMutations(session: WriteSession, which: () => Fragment, label: string, message: string) {
  let polls = 0
  const areDone = () => {
    polls += 1
    return areMutationsDone(nodesOf(session.stores.clickhouse), which(), session.optionsOf(label))
  }
  // Each poll by itself: the wait may last longer than two outages are apart.
  await session.waitUntil(() => session.retry('waiting for mutations', areDone), message)
  return polls > 1
}
