import { Problem } from '../../problem.ts'
import type { Client } from './client.ts'
import { type QueryOptions, selectRows } from './select.ts'
import { ch, type Fragment } from './sql.ts'

/**
 * A mutation is sent without waiting for its end, for which `areMutationsDone` is polled: ClickHouse sends nothing while it waits, and
 * the client gives up after 30 s. Lightweight deletes have a setting of their own.
 */
export const unwaited = ch`SETTINGS mutations_sync = 0, lightweight_deletes_sync = 0`

/**
 * Whether mutations have ended on every node; they outlive their statements and their senders.
 * @param which condition on `system.mutations`
 * @throws Problem `unavailable` with ClickHouse's reason: a part has failed, and ClickHouse waits before it tries the part again, for ever and
 *   with growing pauses of up to 5 min. While ClickHouse tries the part again, the mutation is not failing; on a replica it is failing for
 *   5 min after the failure
 */
export async function areMutationsDone(nodes: readonly Client[], which: Fragment, options: QueryOptions) {
  const query = ch`
SELECT table,
  -- The parts in progress of a replica also wait for the next attempt. Only its mutations have numbers as ids.
  if(has(parts_to_do_names, latest_failed_part) AND if(startsWith(mutation_id, 'mutation_'),
      NOT has(parts_in_progress_names, latest_failed_part), latest_fail_time > now() - 300),
    substringUTF8(latest_fail_reason, 1, 300), '') AS failure
FROM system.mutations
WHERE database = currentDatabase() AND NOT is_done AND ${which}
ORDER BY failure DESC
LIMIT 1`
  const read = (reader: Client) => selectRows<{ table: string; failure: string }>({ reader }, query, options)
  const unfinished = (await Promise.all(nodes.map(read))).flat()
  const failed = unfinished.find(({ failure }) => failure !== '')
  if (failed) {
    const message = `ClickHouse cannot complete a mutation of ${failed.table}, see system.mutations: ${failed.failure}`
    throw new Problem('unavailable', message)
  }
  return unfinished.length === 0
}
