import { join } from 'node:path'
import { type CrashStores, openCrashStores } from '../faults/crashes/crashStores.ts'
import { openOnNodes } from '../faults/replicas/openOnNodes.ts'
import { contentOfNode } from '../kit/clickhouseCluster.ts'
import { engineTemplate } from '../kit/engineTemplate.ts'
import type { Replicas } from '../kit/replicas.ts'
import type { ServerProcess } from '../kit/serverProcess.ts'

export async function openReplicatedStores(): Promise<CrashStores & { replicas: Replicas }> {
  const postgresTemplate = join(await engineTemplate(), 'postgres')
  const { replicas, ...stores } = await openCrashStores({ replicatedShards: 1, postgresTemplate })
  if (!replicas) throw new Error('no replicas')
  return { ...stores, replicas }
}

/** Opens them with one account, through a server on each node. */
export async function openPair() {
  const stores = await openReplicatedStores()
  const { replicas } = stores
  const { accounts, close } = await openOnNodes(stores, replicas)
  return {
    ...stores,
    replicas,
    accounts,
    contents: () => Promise.all(replicas.nodes.map((node) => contentOfNode(node))),
    /** What is wrong on each node, before and after merges. */
    async differences(): Promise<string[]> {
      return [...(await accounts[0].differences()), ...(await accounts[1].differences())]
    },
    async close(): Promise<void> {
      await close()
      await stores.close()
    },
  }
}

export async function without<Result>(dead: ServerProcess, act: () => Promise<Result>): Promise<Result> {
  await dead.kill()
  try {
    return await act()
  } finally {
    await dead.start()
  }
}
