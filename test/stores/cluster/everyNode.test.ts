import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ClickHouse } from '../../../src/stores/clickhouse/connection.ts'
import { NotBegun, runOnEveryNode } from '../../../src/stores/clickhouse/insert.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { type ClickHouseCluster, startCluster } from '../../kit/clickhouseCluster.ts'
import { openTestStores, type TestStores } from '../../kit/stores.ts'

let cluster: ClickHouseCluster
let stores: TestStores

beforeAll(async () => {
  cluster = await startCluster()
  stores = await openTestStores(cluster.environment)
})
afterAll(async () => {
  await stores?.close()
  await cluster?.close()
})

type Client = ClickHouse['client']
type Send = () => ReturnType<Client['exec']>

/** The same cluster; each statement to a node is sent by `through`, which receives the index of the node. */
function sentThrough(through: (node: number, send: Send) => ReturnType<Client['exec']>): ClickHouse {
  const { clickhouse } = stores
  if (!clickhouse.cluster) throw new Error('no cluster')
  const nodes = clickhouse.cluster.nodes.map((node, index) => {
    const client = Object.create(node.client) as Client
    client.exec = (order) => through(index, () => node.client.exec(order))
    return { ...node, client }
  })
  return { ...clickhouse, cluster: { ...clickhouse.cluster, nodes } }
}

const statement = ch`DELETE FROM clicks WHERE account_id = 'acme'`

it('a statement is sent to every node before it ends on one, so that each can begin it before its deadline', async () => {
  const steps: string[] = []
  const clickhouse = sentThrough(async (_node, send) => {
    steps.push('sent')
    const response = await send()
    steps.push('ended')
    return response
  })
  await runOnEveryNode(clickhouse, statement, 'test')
  expect(steps).toEqual(['sent', 'sent', 'ended', 'ended'])
})

it('a statement has ended on every node before a failure on one of them is reported', async () => {
  const ended: number[] = []
  for (const failing of [0, 1]) {
    const clickhouse = sentThrough(async (node, send) => {
      if (node === failing) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      const response = await send()
      ended.push(node)
      return response
    })
    await expect(runOnEveryNode(clickhouse, statement, 'test')).rejects.toThrow(NotBegun)
  }
  expect(ended).toEqual([1, 0])
})

it('an outcome that is unknown on one node is reported as unknown, also when another node did not begin', async () => {
  for (const failing of [0, 1]) {
    const clickhouse = sentThrough(async (node, send) => {
      if (node === failing) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      await send()
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    })
    const error = await runOnEveryNode(clickhouse, statement, 'test').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(error).not.toBeInstanceOf(NotBegun)
  }
})
