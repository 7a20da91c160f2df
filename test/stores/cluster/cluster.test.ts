import { runOnEveryNode } from '../../../src/stores/cluster/everyNode.ts'
// @module-tag all

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { exportRows } from '../../../src/export/run.ts'
import { packageRoot } from '../../../src/package.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { insertRows, NotBegun } from '../../../src/stores/clickhouse/insert.ts'
import { RowBinary } from '../../../src/stores/clickhouse/rowBinary.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { readClickHouseClock } from '../../../src/stores/cluster/clock.ts'
import type { ClickHouse } from '../../../src/stores/cluster/connection.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { openStores } from '../../../src/stores/open.ts'
import { accepted, deduplicated, send } from '../../api/events/send.ts'
import { importContent, rowsOf } from '../../import/runImport.ts'
import { openTestAppBeside } from '../../kit/app.ts'
import { contentOfNode, startCluster } from '../../kit/clickhouseCluster.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { stopMerges, storeMetadata } from '../../kit/rows.ts'
import { openTestStores } from '../../kit/stores.ts'

const cluster = useOpened(() => startCluster())
// The users of docs/clickhouse-users.sql, each with what it needs and no more.
const api = useOpened(async () => {
  const owner = await openTestStores({
    ...cluster.environment,
    CLICKHOUSE_URL: cluster.nodes[0].url('tributary_owner'),
  })
  // The number of versions is counted below.
  await stopMerges(owner, 'conversions')
  const users = {
    CLICKHOUSE_URL: cluster.nodes[0].url('tributary_writer'),
    CLICKHOUSE_READER_URL: cluster.nodes[1].url('tributary_reader'),
  }
  return await openTestAppBeside(owner, { ...cluster.environment, ...users })
})
let key: string

const open = (changes: Record<string, string> = {}) =>
  openStores(readSettings({ ...api.stores.environment, ...changes }), () => {})

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k0' }, { id: 'k1' }])
  await importContent(api.stores, 'acme', 'conversions', conversions.slice(0, 30))
  await importContent(api.stores, 'acme', 'clicks', clicks)
  await importContent(api.stores, 'acme', 'conversions', conversions.slice(30))
  await importContent(api.stores, 'acme', 'conversions', changed)
})

const at = (n: number) => new Date(Date.UTC(2026, 10, 1 + (n % 7), n % 24, n % 60)).toISOString()
const clicks = Array.from({ length: 300 }, (_, n) => ({
  id: `c${n}`,
  clickedAt: at(n),
  campaignId: `k${n % 2}`,
  country: ['US', 'DE', 'FR'][n % 3],
  cost: 0.25,
  currency: 'USD',
  isBot: n % 50 === 0,
}))
const conversions = Array.from({ length: 60 }, (_, n) => ({
  id: `v${n}`,
  clickId: `c${n * 3}`,
  convertedAt: at(n + 3),
  updatedAt: at(n + 3),
  transactionId: `order-${n}`,
  status: 'pending',
  revenue: 2,
  currency: 'USD',
}))
/** A third is approved later, and a sixth moves to another moment. */
const changed = conversions
  .filter((_, n) => n % 3 === 0)
  .map((row, n) => ({
    ...row,
    status: 'approved',
    updatedAt: '2026-11-20T00:00:00.000Z',
    ...(n % 2 === 0 && { convertedAt: '2026-11-15T12:00:00.000Z' }),
  }))

const read = async (path: string) => {
  const response = await api.get(path, key)
  return { status: response.statusCode, body: response.json() }
}

async function idsOnNodes(table: string, id = 'id'): Promise<string[][]> {
  return await Promise.all(
    cluster.nodes.map(async (node) =>
      (await node.run('admin', `SELECT DISTINCT ${id} FROM tributary_local.${table} ORDER BY ${id}`)).split('\n'),
    ),
  )
}

const everything = () => Promise.all(cluster.nodes.map(contentOfNode))

type Client = ClickHouse['client']
type Send = () => ReturnType<Client['exec']>

/** The same cluster; each statement to a node is sent by `through`, which receives the index of the node. */
function sentThrough(through: (node: number, send: Send) => ReturnType<Client['exec']>): ClickHouse {
  const { clickhouse } = api.stores
  if (!clickhouse.cluster) throw new Error('no cluster')
  const nodes = clickhouse.cluster.nodes.map((node, index) => {
    const client = Object.create(node.client) as Client
    client.exec = (order) => through(index, () => node.client.exec(order))
    return { ...node, client }
  })
  return { ...clickhouse, cluster: { ...clickhouse.cluster, nodes } }
}

const statement = ch`DELETE FROM clicks WHERE account_id = 'nobody'`

describe('on two nodes', () => {
  it('both have rows, and a row is on one of them with all rows derived from it', async () => {
    for (const [rows, index, id] of [
      ['clicks', 'click_index', 'id'],
      ['conversions', 'conversion_index', 'id'],
      ['conversions', 'converted_clicks', 'conversion_id'],
    ] as const) {
      const [one = [], other = []] = await idsOnNodes(rows)
      expect([one.length > 10, other.length > 10]).toEqual([true, true])
      expect(one.filter((each) => other.includes(each))).toEqual([])
      expect(await idsOnNodes(index, id)).toEqual([one, other])
    }
    const versions = 'SELECT count() AS rows, uniqExact(id) AS ids FROM conversions'
    // Those that came before their click have a version more, and moves leave a mark behind.
    expect(await rowsOf(api.stores, versions)).toEqual([{ rows: 60 + 30 + 20 + 10, ids: 60 }])
  })

  it('reports equal plain counts of the rows', async () => {
    const counted = clicks.filter(({ isBot }) => !isBot)
    for (const path of ['/reports?group_by=country', '/reports?group_by=day', '/reports?group_by=campaign']) {
      const { body } = await read(`${path}&from=2026-11-01&to=2026-11-19`)
      expect(body.totals).toMatchObject({
        clicks: counted.length,
        cost: counted.length * 0.25,
        conversions: 20,
        revenue: 40,
        pendingConversions: 40,
      })
    }
    const { body } = await read('/reports?group_by=country&from=2026-11-01&to=2026-11-19')
    const byCountry = Object.fromEntries(body.data.map((row: { id: string; clicks: number }) => [row.id, row.clicks]))
    const expected = ['US', 'DE', 'FR'].map((code) => [code, counted.filter(({ country }) => country === code).length])
    expect(byCountry).toEqual(Object.fromEntries(expected))
  })

  it('pages return all rows of both nodes once, in order', async () => {
    const latest = conversions.map((row) => changed.find(({ id }) => id === row.id) ?? row)
    const placeOf = (row: { id: string; clickedAt?: string; convertedAt?: string }) =>
      `${row.convertedAt ?? row.clickedAt} ${row.id}`
    for (const [path, rows] of [
      ['/clicks?limit=120', clicks],
      ['/clicks?limit=25&converted=true', clicks.filter(({ id }) => latest.some(({ clickId }) => clickId === id))],
      ['/conversions?limit=25', latest],
      ['/conversions?limit=9&status=approved', latest.filter(({ status }) => status === 'approved')],
      ['/conversions/search?q=order-&limit=25', latest],
    ] as const) {
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await read(`${path}&from=2026-11-01&to=2026-11-20${cursor && `&cursor=${cursor}`}`)
        seen.push(...body.data.map(placeOf))
        cursor = body.nextCursor
      }
      expect([path, ...seen]).toEqual([path, ...rows.map(placeOf).toSorted().toReversed()])
    }
  })

  it('a batch that arrives after its deadline is stored on neither node, for each receiving node', async () => {
    const out = new RowBinary()
    for (let n = 0; n < 100; n++) for (const value of ['acme', `late${n}`, 'k0', 'US']) out.text(value)
    const columns = ['account_id', 'id', 'campaign_id', 'country'].map((name) => ({ name, type: 'String' }))
    const batch = { table: 'clicks', columns, bytes: out.bytes, isDistinct: true }
    const other = await open({ CLICKHOUSE_URL: cluster.nodes[1].url('tributary_writer') })
    const before = await everything()
    for (const { clickhouse } of [api.stores, other]) {
      const deadlineMs = await readClickHouseClock(clickhouse)
      const late = insertRows(clickhouse, batch, { queryId: randomUUID(), deadlineMs })
      await expect(late).rejects.toThrow(NotBegun)
    }
    await other.close()
    expect(await everything()).toEqual(before)
  })

  it('an event sent to both nodes is stored once', async () => {
    const other = await open({ CLICKHOUSE_URL: cluster.nodes[1].url('tributary_writer') })
    const twin = await api.open({ stores: other })
    const ids = Array.from({ length: 15 }, (_, n) => `e${n}`)
    const event = (id: string) => ({ click_id: 'c1', event_name: 'paid', event_id: id })
    for (const id of ids) expect(await send(api.app, key, event(id))).toEqual(accepted)
    for (const id of ids) expect(await send(twin, key, event(id))).toEqual(deduplicated)
    const raced = await Promise.all(
      ids.flatMap((id) => [api.app, twin].map((one) => send(one, key, event(`raced-${id}`)))),
    )
    expect(new Set(raced.map(([status]) => status))).toEqual(new Set([200]))
    expect(await rowsOf(api.stores, 'SELECT count() AS rows FROM pixel_events FINAL')).toEqual([{ rows: 30 }])
    const [one = [], two = []] = await idsOnNodes('pixel_events')
    expect([one.length > 5, two.length > 5, one.length + two.length]).toEqual([true, true, 30])
    await twin.close()
    await other.close()
  })

  it('exported events have the names of their fields', async () => {
    const query = { accountId: 'acme', resource: 'pixel-events', format: 'ndjson', currency: 'USD', range: {} } as const
    const lines = await text(exportRows(api.stores, query, new AbortController().signal))
    expect(lines.match(/^{"id":".*,"eventName":"paid","clickId":"c1","visitorId":.*}$/gm)).toHaveLength(30)
  })

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

  it('a look at the nodes that runs while the stores are closed finds none of them unavailable', async () => {
    const notices: string[] = []
    const stores = await openStores(readSettings(api.stores.environment), ({ message }) => void notices.push(message))
    const { cluster: opened } = stores.clickhouse
    const [node] = opened?.allNodes ?? []
    if (!opened || !node) throw new Error('The stores have no cluster.')
    let fail = () => {}
    const looking = new Promise<void>((begin) => {
      vi.spyOn(opened, 'look').mockImplementationOnce(async () => {
        begin()
        await new Promise<void>((resolve) => {
          fail = resolve
        })
        node.failure = 'socket hang up'
      })
    })
    await looking
    const closed = stores.close()
    fail()
    await closed
    expect(notices).toEqual([])
  })

  it('requests fail while one of them is down, and succeed once it has restarted', async () => {
    const [, stopped] = cluster.nodes
    const path = '/reports?group_by=country&from=2026-11-01&to=2026-11-19'
    const before = (await read(path)).body.totals
    const event = { click_id: 'c1', event_name: 'paid', event_id: 'while-one-is-down' }
    await stopped.kill()
    expect(await read(path)).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    expect((await api.app.inject('/readyz')).statusCode).toBe(503)
    const waiting = send(api.app, key, event)
    await stopped.start()
    // The server retries the insert until both nodes respond or the deadline of the event passes; then the client retries.
    if ((await waiting)[0] !== 200) await expect.poll(async () => (await send(api.app, key, event))[0]).toBe(200)
    expect((await read(path)).body.totals).toEqual(before)
  })
})

describe('a store is of one kind', () => {
  const refusal = (changes: Record<string, string>) =>
    open({ CLICKHOUSE_URL: cluster.nodes[0].url('admin'), CLICKHOUSE_READER_URL: '', ...changes }).then(
      async (opened) => {
        const outcome = await migrate(opened).catch((error: Error) => error.message)
        await opened.close()
        return outcome
      },
      (error: Error) => error.message,
    )

  it('nodes that the settings omit are read from the configuration of the cluster', async () => {
    const url = cluster.nodes[0].url('admin').replace(/tributary$/, 'found')
    expect(await refusal({ CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: 'alone', CLICKHOUSE_NODES: '' })).toContain(
      'clickhouse/0001_baseline.sql',
    )
  })

  it('a setting cannot change a single server to a cluster, a cluster to a single server, or the number of shards', async () => {
    const url = cluster.nodes[0].url('admin').replace(/tributary$/, 'single')
    const single = { CLICKHOUSE_CLUSTER: '', CLICKHOUSE_NODES: '' }
    expect(await refusal({ CLICKHOUSE_URL: url, ...single })).toContain('clickhouse/0001_baseline.sql')
    expect(await refusal({ CLICKHOUSE_URL: url })).toMatch(
      /^CLICKHOUSE_CLUSTER: the database single of http.* contains the tables of a single server; docs\/scaling\.md/,
    )
    expect(await refusal({ CLICKHOUSE_CLUSTER: 'alone', CLICKHOUSE_NODES: '' })).toBe(
      'CLICKHOUSE_CLUSTER: the rows of tributary are distributed over 2 shards, the cluster now has 1 shard; docs/scaling.md describes how to move rows.',
    )
    expect(await refusal(single)).toBe(
      'CLICKHOUSE_CLUSTER: the tables of the database tributary are distributed over a cluster; set its name.',
    )
  })

  it('the statements of docs/scaling.md move all rows to another number of shards', async () => {
    await importContent(api.stores, 'acme', 'costs', [{ id: 'd1', spentAt: at(1), cost: 4, campaignId: 'k1' }])
    const two = cluster.nodes[0].url('admin').replace(/tributary$/, 'tributary_two')
    const migrated = await refusal({ CLICKHOUSE_URL: two, CLICKHOUSE_CLUSTER: 'alone', CLICKHOUSE_NODES: '' })
    expect(migrated).toContain('clickhouse/0001_baseline.sql')
    const { run } = cluster.nodes[0]
    const page = readFileSync(join(packageRoot, 'docs/scaling.md'), 'utf8')
    for (const insert of page.match(/INSERT INTO tributary_two[^;]+/g) ?? []) await run('admin', insert)
    const tables = "SELECT name FROM system.tables WHERE database = 'tributary_two_local' AND engine LIKE '%MergeTree'"
    for (const table of (await run('admin', `${tables} AND name != 'schema_migrations'`)).split('\n')) {
      const counted = table.startsWith('sums_') ? 'sum(clicks), sum(conversions), sum(cost)' : 'count()'
      const [from, to] = ['tributary', 'tributary_two'].map((name) =>
        run('admin', `SELECT ${counted} FROM ${name}.${table} FINAL`),
      )
      expect([table, await to]).toEqual([table, await from])
    }
  })

  it('an unknown cluster, or nodes of another one, are named in one line', async () => {
    const [first = ''] = cluster.environment.CLICKHOUSE_NODES.split(',')
    expect(await refusal({ CLICKHOUSE_CLUSTER: 'pears' })).toBe(
      'CLICKHOUSE_CLUSTER=pears: the server of CLICKHOUSE_URL has no such cluster, but alone, pair.',
    )
    // Another node has it.
    expect(await refusal({ CLICKHOUSE_CLUSTER: 'late' })).toBe(
      'CLICKHOUSE_CLUSTER=late: the server of CLICKHOUSE_URL has no such cluster, but alone, pair.',
    )
    expect(await refusal({ CLICKHOUSE_NODES: first })).toBe(
      'CLICKHOUSE_NODES: the cluster pair has 2 nodes, 1 are named.',
    )
    expect(await refusal({ CLICKHOUSE_NODES: `${first},${first}` })).toBe(
      'CLICKHOUSE_NODES: 1 of the 2 nodes of the cluster pair are named.',
    )
    expect(await refusal({ CLICKHOUSE_CLUSTER: '' })).toBe('CLICKHOUSE_NODES: CLICKHOUSE_CLUSTER is not set.')
    expect(await refusal({ CLICKHOUSE_URL: '', CLICKHOUSE_NODES: '' })).toBe(
      'CLICKHOUSE_CLUSTER: CLICKHOUSE_URL is not set.',
    )
  })
})
