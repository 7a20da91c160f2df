// @module-tag long
// @module-tag postgres

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { packageRoot, version } from '../../src/package.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { run, runJson } from '../cli/runCommand.ts'
import { importContent, rowsOf } from '../import/runImport.ts'
import { makeAccountWithKey } from '../kit/accounts.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { makeProgram, nextMigrations } from '../kit/program.ts'
import { freePort, startInstance } from '../kit/serverProcess.ts'
import { apply, fromSums, life } from '../properties/lives.ts'
import { migrateKilled } from './killedMigration.ts'
import { openLoad, request } from './load.ts'

const stores = useTestStores({ isDirty: true })
const folder = useFolder()

async function startHere(program?: string) {
  const port = `${await freePort()}`
  const settings = { ...stores.environment, PORT: port, METRICS_PORT: '0', LOG_LEVEL: 'error' }
  const { child, exited } = await startInstance(settings, program)
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    async end() {
      child.kill('SIGTERM')
      expect((await exited)[0]).toBe(0)
    },
  }
}

const readNumbers = (url: string, key: string) => Promise.all(fromSums.map((path) => request(`${url}${path}`, key)))

const at = (n: number) => new Date(Date.UTC(2026, 10, 1 + (n % 20), n % 24)).toISOString()
/** A conversion reads its click through the copy of the click. */
async function importPair(n: number): Promise<void> {
  const device = n % 2 ? 'mobile' : 'desktop'
  await importContent(stores, 'writing', 'clicks', [
    { id: `c${n}`, clickedAt: at(n), campaignId: 'k1', device, city: 'Lyon' },
  ])
  const conversion = { id: `s${n}`, clickId: `c${n}`, convertedAt: at(n + 1), status: 'approved', revenueBase: 2 }
  expect(await importContent(stores, 'writing', 'conversions', [conversion])).toMatchObject({ inserted: 1 })
}

it('version 1.1.0 reads the stores and stores events, and refuses to write rows that an import stores', async () => {
  const { key } = await makeAccountWithKey(stores, 'reading')
  await importContent(stores, 'reading', 'campaigns', [{ id: 'k1', name: 'K1' }])
  await importContent(stores, 'reading', 'clicks', [{ id: 'c1', clickedAt: at(0), campaignId: 'k1' }])
  const root = folder('1.1.0')
  await makeProgram(root, '1.1.0')
  await rm(join(root, 'postgres/0002_process_claims.sql'))
  const earlier = await startHere(root)
  expect(await request(`${earlier.url}/clicks`, key)).toMatchObject({ data: [{ id: 'c1' }] })
  const event = { event_name: 'visit', click_id: 'c1', event_id: 'e1' }
  expect(await request(`${earlier.url}/events`, key, event)).toEqual({ accepted: true })
  await earlier.end()
  await writeFile(folder('clicks.ndjson'), `{"id":"c2","clickedAt":"${at(1)}"}\n`)
  const importing = ['import', 'clicks', folder('clicks.ndjson'), '--account', 'reading']
  expect(await run(importing, stores.environment, root)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/0002_process_claims\.sql .*only version 1\.2\.0 or later may write them/),
  })
  expect(await run(importing, stores.environment)).toMatchObject({ code: 0 })
})

it('an instance of the version before reads, writes and restarts while an upgrade is killed at every statement, and after it', {
  timeout: 1_200_000,
}, async () => {
  const [{ key: lived }, { key: writing }] = [
    await makeAccountWithKey(stores, 'lived'),
    await makeAccountWithKey(stores, 'writing'),
  ]
  const [steps = []] = fc.sample(life, { numRuns: 1, seed: Number(process.env.TRIBUTARY_TEST_SEED) })
  for (const step of steps) await apply({ stores }, 'lived', step)
  await importContent(stores, 'writing', 'campaigns', [{ id: 'k1', name: 'K1' }])
  await importPair(0)
  const steady = await startHere()
  let restarted = await startHere()
  const before = await readNumbers(steady.url, lived)
  const root = folder('next')
  await makeProgram(root, '99.1.0', nextMigrations)
  const load = openLoad(() => steady.url, { lived, writing })

  const kills = await migrateKilled(stores, root, async (number) => {
    load.assertRunning()
    await importPair(number)
    if (number % 10 !== 0) return
    await restarted.end()
    restarted = await startHere()
    expect(await readNumbers(restarted.url, lived)).toEqual(before)
  })
  expect(kills).toBeGreaterThan(30)
  await importPair(kills + 1)
  const acknowledged = await load.end()

  // Both versions find the stores up to date.
  expect(await migrate(stores, root)).toEqual([])
  expect(await migrate(stores)).toEqual([])
  const next = await startHere(root)
  for (const { url } of [steady, restarted, next]) expect(await readNumbers(url, lived)).toEqual(before)
  const clickIds = { event_name: 'visit', click_id: 'c1' }
  for (const { url } of [restarted, next])
    expect(await request(`${url}/events`, writing, clickIds)).toEqual({ accepted: true })
  expect((await runJson(['verify'], stores.environment)).differences).toEqual([])

  const query =
    "SELECT arraySort(groupUniqArray(id)) AS ids FROM pixel_events WHERE account_id = 'writing' AND id LIKE 'load-%'"
  const [events] = await rowsOf<{ ids: string[] }>(stores, query)
  expect(events?.ids).toEqual(acknowledged.toSorted())
  const path = '/reports?group_by=device&from=2026-11-01&to=2026-11-30'
  expect(await request(`${next.url}${path}`, writing)).toMatchObject({
    totals: { clicks: kills + 2, conversions: kills + 2, revenue: 2 * (kills + 2) },
  })
  // What the later version added has the values that its files give it, also in rows of the version before.
  for (const table of ['clicks', 'converted_click_rows', 'conversions']) {
    const wrong = `SELECT countIf(is_mobile != (device = 'mobile')) AS wrong, countIf(is_mobile) > 0 AS some FROM ${table}`
    expect(await rowsOf(stores, wrong)).toEqual([{ wrong: 0, some: 1 }])
  }
  const [campaigns] = await stores.postgres`
    SELECT count(*) FILTER (WHERE priority = 1)::integer AS filled, count(*)::integer AS rows FROM campaigns`
  expect(campaigns?.rows).toBeGreaterThan(0)
  expect(campaigns?.filled).toBe(campaigns?.rows)

  // A program that cannot use the tables of a later version is refused; the later version is not.
  await mkdir(folder('more/clickhouse'), { recursive: true })
  const file =
    '-- readable from: 99.2.0\n-- writable from: 99.2.0\nALTER TABLE clicks DROP INDEX IF EXISTS city_index;\n'
  await writeFile(folder('more/clickhouse/0004_no_city_index.sql'), file)
  await makeProgram(folder('last'), '99.2.0', nextMigrations, folder('more'))
  const last = await run(['migrate', '--json'], stores.environment, folder('last'))
  expect([last.stderr, last.stdout]).toEqual(['', '{"applied":["clickhouse/0004_no_city_index.sql"]}\n'])
  for (const [program, present] of [
    [packageRoot, version],
    [root, '99.1.0'],
  ]) {
    const { code, stdout, stderr } = await run(['account', 'list'], stores.environment, program)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      new RegExp(
        `^error: clickhouse/0004_no_city_index\\.sql of version 99\\.2\\.0 \\(commit \\S+\\) has changed the tables, and only version 99\\.2\\.0 or later may read them; this is version ${present} \\(commit \\S+\\)\\. .*"tributary account export" .*"tributary account import" .*\\n$`,
      ),
    )
  }
  expect((await run(['verify', '--json'], stores.environment, folder('last'))).code).toBe(0)
})
