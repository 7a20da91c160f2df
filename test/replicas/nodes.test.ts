// @module-tag long

import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openMetrics } from '../../src/http/prometheusMetrics.ts'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { ch } from '../../src/stores/clickhouse/sql.ts'
import { quorumOf } from '../../src/stores/cluster/chooseServer.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { assertNodesRespond } from '../../src/stores/migrations/migrateClickHouse.ts'
import { fillReplicas } from '../../src/stores/migrations/newReplicas.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { post } from '../api/events/send.ts'
import { runHere } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { openTestApp } from '../kit/app.ts'
import { canReplicate } from '../kit/canReplicate.ts'
import { contentOfNode } from '../kit/clickhouseCluster.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { type ReplicaNode, startReplicas } from '../kit/replicas.ts'
import { storeMetadata } from '../kit/rows.ts'
import { openTestStores } from '../kit/stores.ts'
import { holds } from '../kit/until.ts'

const path = '/reports?group_by=country&from=2026-11-01&to=2026-11-19'
const clicksOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `${name}${n}`,
    clickedAt: new Date(Date.UTC(2026, 10, 1 + (n % 9), n % 24)).toISOString(),
    campaignId: 'k0',
    country: ['US', 'DE'][n % 2],
    cost: 0.25,
    currency: 'USD',
  }))

describe.runIf(canReplicate()).each([1, 2])('with %i shards of two replicas', (shards) => {
  const folder = useFolder()
  const replicas = useOpened(() => startReplicas({ shards }))
  const metrics = openMetrics()
  const api = useOpened(async () => {
    const [home] = replicas.nodes
    const owner = await openTestStores({ ...replicas.environment, CLICKHOUSE_URL: home.url('tributary_owner') })
    await owner.close()
    const users = { CLICKHOUSE_URL: home.url('tributary_writer'), CLICKHOUSE_READER_URL: home.url('tributary_reader') }
    const opened = await openTestApp({ metrics, now: Date.now }, { ...replicas.environment, ...users })
    const key = await opened.account('acme')
    await storeMetadata(opened.stores, 'campaigns', 'acme', [{ id: 'k0' }])
    await importContent(opened.stores, 'acme', 'clicks', clicksOf('c', 200))
    return Object.assign(opened, { key })
  })
  let clicks = 200

  const urlOf = ({ port }: ReplicaNode) => `http://127.0.0.1:${port}`
  /** The node of CLICKHOUSE_URL, and another replica of its shard. */
  const pair = () => [replicas.nodes[0], replicas.nodes[1] as ReplicaNode] as const
  /** One replica of each shard, with the node of CLICKHOUSE_URL. */
  const oneOfEach = () => replicas.nodes.filter((_, index) => index % 4 === 0 || index % 4 === 3)
  const readClicks = async (app = api.app) => {
    const response = await app.inject({ url: `/api/v1${path}`, headers: { authorization: `ApiKey ${api.key}` } })
    return response.statusCode === 200 ? response.json().totals.clicks : response.statusCode
  }
  const goTo = (node: ReplicaNode, { clickhouse }: Pick<Stores, 'clickhouse'> = api.stores) => {
    const query = ch`SELECT concat(getMacro('shard'), ' ', getMacro('replica')) AS name`
    const nameAt = async (reader: typeof clickhouse.reader) =>
      (await selectRows<{ name: string }>({ reader, onQuery: undefined }, query, { label: 'test' }).catch(() => []))[0]
        ?.name
    const name = `${node.shard} r${replicas.nodes.indexOf(node) % 2}`
    const read = () => Promise.all([clickhouse.client, clickhouse.reader].map(nameAt))
    return expect.poll(read).toEqual([name, name])
  }
  const readyz = async (app = api.app) => (await app.inject('/readyz')).json()
  const open = async (changes: Record<string, string> = {}) => {
    const stores = await openStores(readSettings({ ...api.stores.environment, ...changes }), () => {}, {
      mayCreate: false,
    })
    onTestFinished(() => stores.close())
    return { stores, app: await api.open({ stores }) }
  }
  const doctor = async (environment = api.stores.environment) => {
    const { stdout } = await runHere(['doctor', '--json'], environment)
    const { checks } = JSON.parse(stdout) as { checks: { check: string; found: string; mend: string }[] }
    return { checks, failed: checks.filter(({ found, check }) => found && !/^(Node|zone|open files)/.test(check)) }
  }
  const migrateAs = async (environment: Record<string, string>) => {
    const { code, stdout, stderr } = await runHere(['migrate', '--json'], environment)
    expect(code, stderr).toBe(0)
    return { applied: JSON.parse(stdout).applied, said: stderr }
  }
  /** Copies the migrations to a folder, with another one of ClickHouse. */
  const addMigration = async (name: string, file: string, statement: string) => {
    for (const store of ['clickhouse', 'postgres'])
      await cp(join(packageRoot, store), folder(name, store), { recursive: true })
    const text = `-- readable from: 1.0.0\n-- writable from: 1.0.0\n${statement};\n`
    await writeFile(folder(name, 'clickhouse', file), text)
  }
  const store = (id: string) => post(api.app, api.key, { click_id: 'c1', event_name: 'paid', event_id: id })
  const isStored = async (id: string) => (await store(id)).statusCode === 200

  it('doctor prints each check of ClickHouse once for each node, with its address', async () => {
    const { checks, failed } = await doctor()
    expect(failed).toEqual([])
    const names = checks.map(({ check }) => check)
    expect(new Set(names).size).toBe(names.length)
    for (const node of replicas.nodes) {
      for (const name of [`fsync of ClickHouse at ${urlOf(node)}`, `node ${urlOf(node)}`]) expect(names).toContain(name)
    }
  })

  it('migrate makes every table of both replicas sync fetched rows, and doctor names a table that does not', async () => {
    const [, node] = pair()
    const alter = (change: string) => node.run('admin', `ALTER TABLE tributary_local.costs ${change}`)
    await alter('RESET SETTING min_compressed_bytes_to_fsync_after_fetch')
    const { failed } = await doctor()
    await alter('MODIFY SETTING min_compressed_bytes_to_fsync_after_fetch = 1')
    const found = 'A power cut loses acknowledged rows of costs.'
    expect(failed).toMatchObject([{ check: `fsync of ClickHouse at ${urlOf(node)}`, found }])
  })

  it('while one replica of each shard is dead, an instance starts and reads, and readyz, doctor and metrics name the dead ones', async () => {
    const dead = oneOfEach()
    const living = replicas.nodes.filter((node) => !dead.includes(node))
    for (const node of dead) await node.kill()
    const { stores, app } = await open()
    expect(await readClicks(app)).toBe(clicks)
    await goTo(pair()[1], stores)
    const { applied, said } = await migrateAs(api.stores.environment)
    expect(applied).toEqual([])
    for (const node of dead) expect(said).toContain(`${urlOf(node)} is unavailable: connect ECONNREFUSED`)
    for (const page of ['/events?format=ndjson', '/checksums/events?from=2026-11-01&to=2026-11-02', '/clicks?limit=1'])
      await expect.poll(async () => (await api.get(page, api.key)).statusCode, { message: page }).toBe(200)

    const unavailableNodes = dead.map(urlOf)
    await expect.poll(() => readyz()).toEqual({ status: 'ready', unavailableNodes })
    const text = await metrics.registry.metrics()
    for (const node of dead) expect(text).toContain(`clickhouse_node_up{node="${urlOf(node)}"} 0`)
    for (const node of living) expect(text).toContain(`clickhouse_node_up{node="${urlOf(node)}"} 1`)
    expect(text).toMatch(/^clickhouse_disk_used_ratio 0\.\d/m)
    await expect
      .poll(async () => (await doctor()).failed.map(({ check }) => check))
      .toEqual([...dead.map((node) => `node ${urlOf(node)}`), ...living.map((node) => `replica of ${urlOf(node)}`)])

    await expect(assertNodesRespond(stores.clickhouse)).rejects.toThrow(`${unavailableNodes[0]} is unavailable`)
    expect((await store('while-dead')).statusCode).toBe(503)
    for (const node of dead) await node.start()
    await expect.poll(() => readyz()).toEqual({ status: 'ready' })
    await expect.poll(() => isStored('while-dead')).toBe(true)
    await goTo(pair()[0], stores)
    await goTo(pair()[0])
  })

  it('an instance does not start while a shard has no replica, and the error names a node', async () => {
    const [home, other] = pair()
    for (const node of [home, other]) await node.kill()
    const refused = open().catch((error: Error) => error.message)
    expect(await refused).toMatch(
      shards === 1
        ? /^CLICKHOUSE_URL: ClickHouse does not respond: connect ECONNREFUSED/
        : `CLICKHOUSE_NODES: ${urlOf(home)} does not respond: connect ECONNREFUSED`,
    )
    for (const node of [home, other]) await node.start()
    await goTo(home)
  })

  it('an instance leaves a suspended node, and returns to it', async () => {
    const [home, other] = pair()
    home.pause()
    await expect.poll(() => readClicks()).toBe(clicks)
    await goTo(other)
    const { app } = await open()
    expect(await readClicks(app)).toBe(clicks)
    home.resume()
    await goTo(home)
    expect(await readClicks()).toBe(clicks)
  })

  it('a lost replica is removed with the command of doctor: writes continue, and its old rows are never read', async () => {
    const [lost, other] = pair()
    await lost.kill()
    await expect.poll(() => readyz()).toEqual({ status: 'ready', unavailableNodes: [urlOf(lost)] })
    // ClickHouse refuses it until the session of the lost one has expired.
    await expect
      .poll(async () => {
        const { mend = '' } = (await doctor()).failed.find(({ check }) => check === `replica of ${urlOf(other)}`) ?? {}
        const [, command = ''] = /run as an administrator of \S+: (SYSTEM DROP REPLICA .*?);/.exec(mend) ?? []
        return command !== '' && (await holds(() => other.run('admin', command)))
      })
      .toBe(true)
    await expect.poll(() => readyz()).toEqual({ status: 'ready' })
    if (shards === 1) {
      expect((await store('removed')).statusCode).toBe(200)
      await importContent(api.stores, 'acme', 'clicks', clicksOf('without', 50))
      clicks += 50
      // As after a suspension, in which the lost one may have been replaced.
      const { cluster } = api.stores.clickhouse
      const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)
      const nodes = [cluster?.nodes.length, quorumOf(cluster)]
      clock.mockRestore()
      expect([nodes, cluster?.nodes.length, quorumOf(cluster)]).toEqual([[2, '2'], 1, '0'])
    }

    await lost.start()
    const { stores, app } = await open()
    await goTo(other, stores)
    for (let reads = 0; reads < 20; reads++) expect(await readClicks(app)).toBe(clicks)
    expect((await doctor()).failed).toMatchObject([{ found: 'Keeper does not know its tables.' }])
  })

  it('a new replica is filled by migrate, and not read before it has every row', async () => {
    const [added, source] = pair()
    await added.loseDisk()
    await added.start()
    const owner = { ...api.stores.environment, CLICKHOUSE_URL: source.url('tributary_owner') }
    const ownerAtHome = { ...owner, CLICKHOUSE_URL: added.url('tributary_owner') }
    await expect
      .poll(async () => (await doctor()).failed)
      .toMatchObject([{ check: `node ${urlOf(added)}`, found: 'It has no copy of the rows of its shard.' }])
    await source.run('admin', 'SYSTEM STOP REPLICATED SENDS')
    let isFilled = false
    const migrating = migrateAs(owner).finally(() => {
      isFilled = true
    })
    // No instance stores a row in one replica from a moment before the other one has tables.
    const local = "SELECT arrayStringConcat(groupArray(name)) FROM system.tables WHERE database = 'tributary_local'"
    await expect.poll(() => added.run('admin', local)).toBe('schema_migrations')
    await expect.poll(async () => (await store('announced')).statusCode).toBe(503)
    expect(await added.run('admin', local)).toBe('schema_migrations')
    const tables = "SELECT count() FROM system.tables WHERE database = 'tributary' AND engine = 'Distributed'"
    await expect.poll(() => added.run('admin', tables)).not.toBe('0')
    const { stores, app } = await open()
    await goTo(source, stores)
    const lacksRows = "SELECT max(absolute_delay) > 5 FROM system.replicas WHERE database = 'tributary_local'"
    await expect.poll(() => added.run('admin', lacksRows)).toBe('1')
    for (let reads = 0; reads < 20; reads++) expect(await readClicks(app)).toBe(clicks)
    expect(isFilled).toBe(false)
    await source.run('admin', 'SYSTEM START REPLICATED SENDS')
    expect((await migrating).applied).toEqual([`replica ${urlOf(added)}`])
    await goTo(added, stores)
    expect(await readClicks(app)).toBe(clicks)
    await replicas.synchronize()
    expect(await contentOfNode(added)).toBe(await contentOfNode(source))
    await expect.poll(() => isStored('filled')).toBe(true)
    expect((await migrateAs(ownerAtHome)).applied).toEqual([])
    const { stdout } = await runHere(['verify'], api.stores.environment)
    expect(stdout).toContain('every sum and index agrees with the rows')
    expect((await doctor()).failed).toEqual([])
  })

  it.runIf(shards === 1)('migrate waits for a replica that has yet to apply a change of the other one', async () => {
    const [first, behind] = pair()
    await addMigration('behind', '9000_later.sql', 'ALTER TABLE costs ADD COLUMN IF NOT EXISTS later UInt8')
    await behind.run('admin', 'SYSTEM STOP REPLICATION QUEUES tributary_local.costs')
    const { stores } = await open({ CLICKHOUSE_URL: first.url('tributary_owner') })
    const migrating = migrate(stores, folder('behind'))
    migrating.catch(() => {})
    const refused = "SELECT sum(value) > 0 FROM system.errors WHERE name = 'CANNOT_ASSIGN_ALTER'"
    await expect.poll(() => behind.run('admin', refused)).toBe('1')
    await behind.run('admin', 'SYSTEM START REPLICATION QUEUES tributary_local.costs')
    expect(await migrating).toEqual(['clickhouse/9000_later.sql'])
  })

  it.runIf(shards === 1)(
    'migrate does not pass over a replica that loses its disk while migrate waits for it',
    async () => {
      const [lost, other] = pair()
      await addMigration('lost', '9001_next.sql', 'ALTER TABLE clicks DROP INDEX IF EXISTS none')
      await lost.kill()
      const { stores } = await open({ CLICKHOUSE_URL: other.url('tributary_owner') })
      const said: string[] = []
      stores.clickhouse.onNotice = (line) => void said.push(line)
      const migrating = migrate(stores, folder('lost'))
        .then(() => fillReplicas(stores))
        .catch((error: Error) => error.message)
      await expect.poll(() => said.join()).toContain('waiting for every node')
      await lost.loseDisk()
      await lost.start()
      expect(await migrating).toContain('Keeper still has the replica that this one replaces')
    },
  )
})
