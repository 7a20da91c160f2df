import type { CrashStores } from './crashStores.ts'
import { type HoldingProxy, openHoldingProxy } from './holdingProxy.ts'

/** Proxies in front of both stores, for one client process. */
export interface StoreProxies {
  readonly clickhouse: HoldingProxy
  readonly postgres: HoldingProxy
  /** Settings of a process that connects through the proxies. */
  readonly environment: Record<string, string>
  close(): Promise<void>
}

export async function openStoreProxies({ environment, nodes, postgresSocket }: CrashStores): Promise<StoreProxies> {
  const [{ port }] = nodes
  const clickhouse = await openHoldingProxy({ port, host: '127.0.0.1' })
  const postgres = await openHoldingProxy({ path: postgresSocket })
  return {
    clickhouse,
    postgres,
    environment: {
      ...environment,
      CLICKHOUSE_URL: environment.CLICKHOUSE_URL.replace(`:${port}/`, `:${clickhouse.port}/`),
      DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/postgres`,
    },
    async close() {
      await Promise.all([clickhouse.close(), postgres.close()])
    },
  }
}
