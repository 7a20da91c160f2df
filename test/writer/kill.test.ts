// @module-tag long

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { sumDifferences } from '../../src/writer/derived/sumDifferences.ts'
import { sumsTableNames } from '../../src/writer/derived/sumsTables.ts'
import { exitOf, run, start } from '../cli/runCommand.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { processesOf } from '../kit/processes.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'
import { until } from '../stores/embedded/folder.ts'

/** Wide enough that a batch has some twelve thousand. */
const rows = 36_000
const campaignCount = 7
const clickAt = (index: number) => Date.UTC(2026, 0, 1) + index * 60_000
const lineOf = (index: number) =>
  JSON.stringify({
    id: `click-${index}`,
    clickedAt: new Date(clickAt(index)).toISOString(),
    campaignId: `c${index % campaignCount}`,
    cost: 0.01,
    userAgent: 'x'.repeat(2_500),
  })
const linesOf = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, index) => `${lineOf(first + index)}\n`).join('')

let stores: TestStores
let folder: string
let file: string
beforeAll(async () => {
  stores = await openTestStores()
  stores.markDirty()
  folder = await mkdtemp(join(tmpdir(), 'tributary-kill-'))
  file = join(folder, 'clicks.ndjson')
  await writeFile(file, linesOf(0, rows))
})
afterAll(async () => {
  await stores.close()
  await rm(folder, { recursive: true })
})

const wordsFor = (account: string, path: string) => ['import', 'clicks', path, '--account', account, '--json']

async function storedClicks(account: string): Promise<number> {
  const [row] = await rowsOf<{ n: number }>(stores, `SELECT count() AS n FROM clicks WHERE account_id = '${account}'`)
  return row?.n ?? 0
}

/** Starts an import from standard input, writes its first rows, and waits until it has stored some more of them. */
async function startHalfWay(account: string, end: number) {
  const before = await storedClicks(account)
  const child = start(wordsFor(account, '-'), stores.environment)
  // A killed import closes its standard input.
  child.stdin.on('error', () => {})
  child.stdin.write(linesOf(0, end))
  const outcome = { exit: exitOf(child), stdout: text(child.stdout), stderr: text(child.stderr) }
  await until(async () => (await storedClicks(account)) > before, 120_000)
  return { child, ...outcome }
}

/** Ends an import by a signal while it waits for the rest of its rows. */
async function endHalfWay(account: string, signal: NodeJS.Signals, end: number) {
  const { child, exit, stderr } = await startHalfWay(account, end)
  child.kill(signal)
  const ended = { code: await exit, stderr: await stderr }
  expect(await storedClicks(account)).toBeLessThan(rows)
  return ended
}

async function expectExact(account: string): Promise<void> {
  const ofAccount = `WHERE account_id = '${account}'`
  const sums = `SELECT value, sum(clicks) AS clicks, toFloat64(sum(cost)) AS cost FROM sums_by_day ${ofAccount}
    AND dimension = 'campaign' GROUP BY value ORDER BY value`
  const perCampaign = (campaign: number) => Math.floor((rows - campaign - 1) / 7) + 1
  expect(await rowsOf(stores, sums)).toEqual(
    Array.from({ length: 7 }, (_, campaign) => ({
      value: `c${campaign}`,
      clicks: perCampaign(campaign),
      cost: perCampaign(campaign) / 100,
    })),
  )
  for (const table of ['clicks', 'click_index']) {
    const counted = await rowsOf(stores, `SELECT count() AS n, uniqExact(id) AS ids FROM ${table} FINAL ${ofAccount}`)
    expect(counted).toEqual([{ n: rows, ids: rows }])
  }
  const span = { accountId: account, fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2027, 0, 1) }
  for (const name of sumsTableNames) {
    expect(await selectRows(stores.clickhouse, sumDifferences(name, span), { label: 'test' })).toEqual([])
  }
}

it('an import that was interrupted and then killed is completed exactly by the next one', {
  timeout: 400_000,
}, async () => {
  const account = await makeAccount(stores)
  const interrupted = await endHalfWay(account, 'SIGINT', 18_000)
  expect(interrupted.code).toBe(1)
  expect(interrupted.stderr).toMatch(
    /^error: interrupted\. Stored so far: \d+ of \d+ rows read\. Run it again with the same rows in the same order to complete it\.\n$/,
  )
  await endHalfWay(account, 'SIGKILL', 35_000)
  const { code, stdout } = await run(wordsFor(account, file), stores.environment)
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: rows, rejected: 0 }])
  await expectExact(account)
})

it('an import continues and is exact when ClickHouse is killed', { timeout: 400_000 }, async ({ skip }) => {
  if (stores.settings.CLICKHOUSE_URL !== undefined) skip('ClickHouse is an external server')
  const account = await makeAccount(stores)
  const { child, exit, stdout, stderr } = await startHalfWay(account, 18_000)
  const engine = processesOf(stores.settings.DATA_DIR).find(({ program }) => program === 'clickhouse/engine')
  // TRAP: 0 would be every process of the suite.
  if (!engine) throw new Error('There is no engine to kill.')
  process.kill(engine.id, 'SIGKILL')
  child.stdin.end(linesOf(18_000, rows))
  expect([await exit, JSON.parse(await stdout), await stderr]).toMatchObject([
    0,
    { read: rows, inserted: rows },
    expect.any(String),
  ])
  await expectExact(account)
})
