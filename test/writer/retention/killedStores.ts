import type { Writer } from '../../../src/writer/lease/writer.ts'

/** The process was killed before a statement. */
export class Killed extends Error {}

/**
 * The same stores for a process that is killed before one of its statements, of Postgres or ClickHouse.
 * @returns stores, and a function that sets how many statements are sent from now on; at first all are
 */
export function killedStores({ postgres, clickhouse }: Writer['stores']): {
  stores: Writer['stores']
  allow(statements: number): void
} {
  let left = Number.POSITIVE_INFINITY
  const spend = () => {
    if (left-- <= 0) throw new Killed()
  }
  const killed = <Client extends object>(client: Client): Client =>
    new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (name === 'exec' || name === 'read') spend()
          return value.apply(target, given)
        }
      },
    })
  const counted = new Proxy(postgres, {
    apply(target, self, given) {
      // Parts of statements are made by the same function.
      if (/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(given[0]?.[0] ?? '')) spend()
      return Reflect.apply(target, self, given)
    },
  })
  const cluster = clickhouse.cluster && {
    ...clickhouse.cluster,
    nodes: clickhouse.cluster.nodes.map((node) => ({ ...node, client: killed(node.client) })),
  }
  return {
    stores: {
      postgres: counted,
      clickhouse: { ...clickhouse, cluster, client: killed(clickhouse.client), reader: killed(clickhouse.reader) },
    },
    allow(statements) {
      left = statements
    },
  }
}
