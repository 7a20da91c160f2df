import { setTimeout as sleep } from 'node:timers/promises'
import type { Draws } from '../../../src/cli/demoData/draws.ts'
import type { ReplicaNode, Replicas } from '../../kit/replicas.ts'

/** The two nodes of a shard, in the order of an outage, and the durations of two outages. */
interface Drawn {
  nodes: readonly [ReplicaNode, ReplicaNode]
  ms: readonly [number, number]
}

/** Shorter and longer than a session with Keeper (3 s), and longer than the time limit of an event (10 s). */
const durationsMs = [0, 500, 2_000, 4_500, 7_000, 12_000] as const

export type Outages = ReturnType<typeof openOutages>

export function openOutages({ nodes, keeper }: Pick<Replicas, 'nodes' | 'keeper'>, draws: Draws) {
  const absent = new Map<ReplicaNode, () => unknown>()
  let servedSinceMs: number | undefined = performance.now()

  function update(): void {
    const isServed = nodes.every(({ shard }) => nodes.some((node) => node.shard === shard && !absent.has(node)))
    servedSinceMs = isServed ? (servedSinceMs ?? performance.now()) : undefined
  }

  async function without(node: ReplicaNode, ms: number, begin: () => unknown, end: () => unknown): Promise<void> {
    absent.set(node, end)
    update()
    await begin()
    await sleep(ms)
    await end()
    absent.delete(node)
    update()
  }
  const kill = (node: ReplicaNode, ms: number) => without(node, ms, node.kill, node.start)

  async function lag(node: ReplicaNode, during: () => Promise<unknown>): Promise<void> {
    await node.stopFetches()
    await during()
    await node.startFetches()
  }

  async function withoutKeeper(ms: number): Promise<void> {
    await keeper.kill()
    await sleep(ms)
    await keeper.start()
  }

  const kinds: Record<string, (drawn: Drawn) => Promise<unknown>> = {
    'one node is killed': ({ nodes: [node], ms: [ms] }) => kill(node, ms),
    async 'both nodes are killed in turn'({ nodes: [one, other], ms: [ms, otherMs] }) {
      await kill(one, ms)
      await kill(other, otherMs)
    },
    'both nodes are killed': ({ nodes: [one, other], ms: [ms, otherMs] }) =>
      Promise.all([kill(one, ms), kill(other, otherMs)]),
    'one node is suspended': ({ nodes: [node], ms: [ms] }) => without(node, ms, node.pause, node.resume),
    'one node is behind': ({ nodes: [node], ms: [ms] }) => lag(node, () => sleep(ms)),
    async 'one node is behind, and the other one is killed'({ nodes: [node, other], ms: [ms, otherMs] }) {
      await lag(node, async () => {
        await sleep(ms)
        await kill(other, otherMs)
      })
    },
    'Keeper is killed': ({ ms: [ms] }) => withoutKeeper(ms),
    async 'Keeper is suspended'({ ms: [ms] }) {
      keeper.pause()
      await sleep(ms)
      keeper.resume()
    },
    'Keeper and one node are killed': ({ nodes: [node], ms: [ms, otherMs] }) =>
      Promise.all([kill(node, ms), withoutKeeper(otherMs)]),
  }
  const shares = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, kind.startsWith('Keeper') ? 1 : 2]))

  return {
    /** Since when each shard has had a node that responds; undefined: one has none. */
    get servedSinceMs() {
      return servedSinceMs
    },
    async injectNext(): Promise<string> {
      const kind = draws.pickShared(shares)
      const { shard } = draws.pick(nodes)
      const pair = nodes.filter((node) => node.shard === shard)
      const [one, other] = draws.chance(0.5) ? pair : pair.toReversed()
      if (!one || !other) throw new Error('A shard has one node.')
      const ms = [draws.pick(durationsMs), draws.pick(durationsMs)] as const
      await kinds[kind]?.({ nodes: [one, other], ms })
      return `${kind} (${nodes.indexOf(one)}; ${ms})`
    },
    async end(): Promise<void> {
      for (const end of absent.values()) await end()
    },
  }
}
