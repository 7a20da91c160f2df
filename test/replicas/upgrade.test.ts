// @module-tag long

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildCommit } from '../../bench/compareBuild.ts'
import { packageRoot } from '../../src/package.ts'
import { run, runJson } from '../cli/runCommand.ts'
import { canReplicate } from '../kit/canReplicate.ts'
import { contentOfNode } from '../kit/clickhouseCluster.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { startReplicas } from '../kit/replicas.ts'
import { freePort, startInstance } from '../kit/serverProcess.ts'
import { openLoad } from '../upgrades/load.ts'

/** The last commit of a release; undefined in a checkout without history. */
function commitOf(version: string): string | undefined {
  const words = ['log', '-1', '--format=%H', `--grep=^release: ${version}$`]
  return execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' }).trim() || undefined
}

/** Tables that sync inserted rows, and no rows that are fetched from the other replica. */
const unsyncedTables = `
  SELECT count() FROM system.tables
  WHERE database = 'tributary_local' AND engine LIKE 'Replicated%' AND engine_full LIKE '%fsync_after_insert = 1%'
    AND engine_full NOT LIKE '%min_compressed_bytes_to_fsync_after_fetch = 1%'`

describe.runIf(canReplicate() && hasPostgres() && isInstalled('git') && commitOf('1.0.0'))('on two replicas', () => {
  const replicas = useOpened(() => startReplicas())
  const postgres = useOpened(() => startPostgres())
  const folder = useFolder()

  it('1.0.0 is replaced and both replicas are restarted under load: each acknowledged event is stored once', async () => {
    const { code } = await buildCommit(commitOf('1.0.0') ?? '', folder('1.0.0'))
    const settings = {
      ...replicas.environment,
      DATABASE_URL: postgres.url('tributary'),
      DATA_DIR: folder('data'),
      LOG_LEVEL: 'error',
    }
    const runBefore = async (words: string) => {
      const { code: exit, stdout, stderr } = await run([...words.split(' '), '--json'], settings, code)
      expect([words, exit, exit === 0 || stderr]).toEqual([words, 0, true])
      return JSON.parse(stdout)
    }
    const start = async (index: 0 | 1, program?: string) => {
      const PORT = `${await freePort()}`
      const environment = { ...settings, CLICKHOUSE_URL: replicas.nodes[index].url('admin'), PORT, METRICS_PORT: '0' }
      const { child, exited } = await startInstance(environment, program)
      onTestFinished(() => void child.kill('SIGKILL'))
      const end = async () => {
        child.kill('SIGTERM')
        expect((await exited)[0]).toBe(0)
      }
      return { url: `http://127.0.0.1:${PORT}/api/v1`, end }
    }
    await runBefore('migrate')
    await runBefore('account create --name Writing --id writing')
    const { key } = await runBefore('key create --account writing --name k --scopes all --allow-events')
    await runBefore('demo --account writing --clicks 500 --days 10')
    for (const [resource, row] of Object.entries({
      campaigns: { id: 'k1', name: 'K1' },
      clicks: { id: 'c0', clickedAt: '2026-11-01T00:00:00Z', campaignId: 'k1' },
    })) {
      await writeFile(folder('row.ndjson'), `${JSON.stringify(row)}\n`)
      await runBefore(`import ${resource} ${folder('row.ndjson')} --account writing`)
    }

    const before = [await start(0, code), await start(1, code)] as const
    let url = before[0].url
    const load = openLoad(() => url, { lived: key, writing: key })
    const unsynced = () => replicas.nodes.map(({ run: runStatement }) => runStatement('admin', unsyncedTables))
    expect(await Promise.all(unsynced())).toEqual(['9', '9'])
    await runJson(['migrate'], settings)
    expect(await Promise.all(unsynced())).toEqual(['0', '0'])
    for (const index of [0, 1] as const) {
      const next = await start(index)
      url = next.url
      await before[index].end()
      load.assertRunning()
    }
    for (const node of replicas.nodes) {
      await node.stop()
      await node.start()
      await replicas.synchronize()
      load.assertRunning()
    }
    const acknowledged = await load.end()
    expect(acknowledged.length).toBeGreaterThan(0)
    expect((await runJson(['verify'], settings)).differences).toEqual([])
    const ids = "SELECT id FROM tributary_local.pixel_events FINAL WHERE id LIKE 'load-%' ORDER BY id"
    for (const node of replicas.nodes)
      expect((await node.run('admin', ids)).split('\n')).toEqual(acknowledged.toSorted())
    const [present, same] = await Promise.all(replicas.nodes.map((node) => contentOfNode(node)))
    expect(same).toBe(present)
  })
})
