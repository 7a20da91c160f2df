import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import type { Stores } from '../../src/stores/open.ts'

/** A statement that is about to be sent: by `read`, or by `exec` or `insert`, which write. */
export interface SentStatement {
  method: 'exec' | 'insert' | 'read'
  /** Whether the user that may only read sends it. */
  isReader: boolean
  text: string
  /** What the program names it, such as `import.late_clicks`. */
  label: unknown
  /** Shared by the statements of one attempt on all nodes of a cluster. */
  queryId: string | undefined
  order: Parameters<ClickHouseClient['exec']>[0]
  /** Runs a statement of `exec`, and waits until it has ended. */
  send(): Promise<void>
}

interface Order {
  query?: string
  statement?: { text: string }
  query_id?: string
  settings?: ClickHouseSettings
  clickhouse_settings?: ClickHouseSettings
}

/**
 * The same stores, with a step before each statement to ClickHouse; what the step throws is what the sender gets.
 * @param before may return another text for a read
 */
export function interceptClickHouse<Given extends Pick<Stores, 'clickhouse'>>(
  stores: Given,
  before: (sent: SentStatement) => unknown,
): Given {
  const intercepted = <Client extends object>(client: Client, isReader = false): Client =>
    new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        if (name !== 'exec' && name !== 'insert' && name !== 'read') return value.bind(target)
        return async (order: Order) => {
          const { query, statement, query_id: queryId, settings = order.clickhouse_settings } = order
          const text = query ?? statement?.text ?? ''
          const send = async () => void (await (await value.call(target, order)).stream.toArray())
          const sent = { method: name, isReader, text, label: settings?.log_comment, queryId, send } as const
          const other = await before({ ...sent, order: order as SentStatement['order'] })
          const isOther = typeof other === 'string' && statement
          return await value.call(target, isOther ? { ...order, statement: { ...statement, text: other } } : order)
        }
      },
    })
  const { client, reader, cluster } = stores.clickhouse
  const nodes = cluster?.nodes.map((node) => ({ ...node, client: intercepted(node.client) }))
  return {
    ...stores,
    clickhouse: {
      ...stores.clickhouse,
      client: intercepted(client),
      reader: intercepted(reader, true),
      cluster: cluster && nodes && { ...cluster, nodes },
    },
  }
}
