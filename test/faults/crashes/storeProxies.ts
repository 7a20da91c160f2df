import type { CrashStores } from './crashStores.ts'
import { type HoldingProxy, openHoldingProxy } from './holdingProxy.ts'

/** Proxies in front of the stores, for one client process. */
export interface StoreProxies {
  /** Of the first node. */
  readonly clickhouse: HoldingProxy
  /** Of each node. */
  readonly nodes: readonly HoldingProxy[]
  readonly postgres: HoldingProxy
  /** Settings of a process that connects through the proxies. */
  readonly environment: Record<string, string>
  close(): Promise<void>
}

export async function openStoreProxies({ environment, nodes, postgresSocket }: CrashStores): Promise<StoreProxies> {
  const [first, ...others] = nodes
  const open = ({ port }: { port: number }) => openHoldingProxy({ port, host: '127.0.0.1' })
  const clickhouse = await open(first)
  const proxies = [clickhouse, ...(await Promise.all(others.map(open)))]
  const postgres = await openHoldingProxy({ path: postgresSocket })
  const proxied = (urls: string) =>
    nodes.reduce((text, { port }, index) => text.replace(`:${port}`, `:${proxies[index]?.port}`), urls)
  return {
    clickhouse,
    nodes: proxies,
    postgres,
    environment: {
      ...environment,
      CLICKHOUSE_URL: proxied(environment.CLICKHOUSE_URL),
      ...(environment.CLICKHOUSE_NODES && { CLICKHOUSE_NODES: proxied(environment.CLICKHOUSE_NODES) }),
      DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/postgres`,
    },
    async close() {
      await Promise.all([...proxies, postgres].map((proxy) => proxy.close()))
    },
  }
}
