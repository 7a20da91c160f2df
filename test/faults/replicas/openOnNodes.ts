import { readSettings } from '../../../src/settings/settings.ts'
import { openStores } from '../../../src/stores/open.ts'
import type { ReplicaNode, Replicas } from '../../kit/replicas.ts'
import { type CrashAccount, openCrashAccount } from '../crashes/crashAccount.ts'
import type { CrashStores } from '../crashes/crashStores.ts'

/** Opens one account through two servers, each on a node of the first shard. */
export async function openOnNodes({ environment }: Pick<CrashStores, 'environment'>, { nodes }: Replicas) {
  const open = async (node: ReplicaNode, kept?: CrashAccount) => {
    const own = { ...environment, CLICKHOUSE_URL: node.url('admin') }
    const opened = { environment: own, stores: await openStores(readSettings(own), () => {}) }
    const account = await openCrashAccount(opened, kept)
    const close = async () => {
      await account.close()
      await opened.stores.close()
    }
    return { ...account, ...opened, close }
  }
  const one = await open(nodes[0])
  const accounts = [one, await open(nodes[1], one)] as const
  return {
    accounts,
    async close(): Promise<void> {
      for (const { close } of accounts) await close()
    },
  }
}
