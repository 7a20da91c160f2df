import type { Client } from '../clickhouse/client.ts'
import { NotBegun, runStatement } from '../clickhouse/insert.ts'
import { type QueryOptions, selectRows } from '../clickhouse/select.ts'
import type { Fragment } from '../clickhouse/sql.ts'
import type { ClusterNode } from './cluster.ts'
import { type ClickHouse, nodesOf } from './connection.ts'

/**
 * Runs a SELECT on every node at once, as `selectRows` does; each node reads its own tables.
 * @param except nodes that are not asked
 * @returns the rows of all nodes
 */
export async function selectOnEveryNode<Row>(
  clickhouse: ClickHouse,
  query: Fragment,
  options: QueryOptions,
  except: readonly ClusterNode[] = [],
): Promise<Row[]> {
  const { onQuery } = clickhouse
  const readers = nodesOf(clickhouse).filter((reader) => except.every(({ client }) => client !== reader))
  const reads = readers.map((reader) => selectRows<Row>({ reader, onQuery }, query, options))
  return (await Promise.all(reads)).flat()
}

/**
 * Runs a statement on every node at once, so that each can begin it before its deadline. Each node changes its own tables. When
 * the promise settles, it has ended on every node, or its outcome is unknown.
 * @param nodes for a mutation the first replicas, since each replica would register it for all of them
 * @throws Problem `unavailable` when its outcome on a node is not known, else NotBegun when a node did not begin it
 */
export async function runOnEveryNode(
  clickhouse: ClickHouse,
  statement: Fragment,
  label: string,
  { queryId, nodes = nodesOf(clickhouse) }: { queryId?: string; nodes?: Client[] } = {},
): Promise<void> {
  const outcomes = await Promise.allSettled(nodes.map((client) => runStatement(client, statement, label, { queryId })))
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  if (errors.length > 0) throw errors.find((error) => !(error instanceof NotBegun)) ?? errors[0]
}
