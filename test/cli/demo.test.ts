import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { clickRows } from '../../src/cli/demoData/clicks.ts'
import { conversionRows } from '../../src/cli/demoData/conversions.ts'
import { type DemoTallies, fillDemo } from '../../src/cli/demoData/fill.ts'
import { planDemo } from '../../src/cli/demoData/visits.ts'
import { testNowMs } from '../kit/app.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'
import { exitOf, expectOneLine, runHere, runJson, start } from './runCommand.ts'

let stores: TestStores
let environment: Record<string, string>
const running: ChildProcessWithoutNullStreams[] = []

beforeAll(async () => {
  stores = await openTestStores()
  environment = { ...stores.environment, PORT: '0' }
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await stores?.close()
})

interface Welcome extends Record<'url' | 'docs' | 'explore' | 'account' | 'key' | 'command', string> {
  calls: string[]
}

async function serveDemo(clicks: number): Promise<{ welcome: Welcome; stop: () => Promise<number | null> }> {
  const child = start(['serve', '--demo', `${clicks}`, '--json'], environment)
  running.push(child)
  const exit = exitOf(child)
  child.stderr.resume()
  const [line] = await once(createInterface(child.stdout), 'line')
  return {
    welcome: JSON.parse(line),
    stop() {
      child.kill('SIGTERM')
      return exit
    },
  }
}

/** Runs a line of the welcome in a shell that has the addresses of servers, which the line leaves out, but no `DATA_DIR`. */
async function paste(line: string) {
  const { DATA_DIR, ...servers } = environment
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, ...servers } })
  return JSON.parse(stdout)
}

describe('serve --demo', () => {
  it('refuses a database with other accounts, even with an account named demo', async () => {
    await runHere(['account', 'create', '--name', 'Demolition Ltd', '--id', 'demo'], environment)
    const line = /--demo needs an empty database, but this one has accounts \(demo\)\./
    expectOneLine(await runHere(['serve', '--demo'], environment), 1, line)
    await stores.postgres`DELETE FROM accounts`
  })

  it('fills an empty database and prints a key, the documentation URL and working example requests', async () => {
    const { welcome, stop } = await serveDemo(3000)
    const { url, docs, explore, key, calls, command } = welcome
    for (const page of [docs, explore]) expect((await fetch(page)).status).toBe(200)
    expect(new URL(explore).hash).toBe(`#key=${key}`)
    const [report, drillDown, daily, funnel, clicks, conversions, event] = await Promise.all(calls.map(paste))
    expect(report.data.length).toBe(report.bucketCount)
    expect(report.bucketCount).toBeGreaterThan(15)
    expect(report.totals.clicks).toBeGreaterThan(500)
    expect(report.totals.revenue).toBeGreaterThan(0)
    expect(report.data[0].name).toEqual(expect.any(String))
    expect(drillDown.data).toHaveLength(5)
    expect(drillDown.data[0].dimensions).toEqual({
      campaign: { id: expect.stringMatching(/^cmp-/), name: expect.any(String) },
      country: { id: expect.stringMatching(/^[A-Z]{2}$/), name: expect.any(String) },
    })
    expect(drillDown.previous.totals.clicks).toBeGreaterThan(100)
    expect(daily.data).toHaveLength(7)
    const entered = funnel.steps.map((step: { entered: number }) => step.entered)
    expect(entered).toEqual(entered.toSorted((a: number, b: number) => b - a))
    // A demo of this size may have no purchase in 30 days.
    expect(entered[1]).toBeGreaterThan(0)
    expect(clicks.data).toHaveLength(3)
    expect(conversions.data).toBeInstanceOf(Array)
    expect(event).toEqual({ accepted: true })
    for (const call of calls) {
      expect(call).not.toContain('\n')
      expect(call).toContain(url)
      expect(call).toContain(key)
    }
    const { accounts } = await paste(`${command} account list --json`)
    expect(accounts).toMatchObject([{ id: 'demo' }])
    expect(await stop()).toBe(0)
  })

  it('at its next start prints another key and stores no click twice', async () => {
    const { welcome, stop } = await serveDemo(3000)
    const { stdout: exported } = await runHere(['export', 'clicks', '--account', 'demo'], environment)
    const rows = exported
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.length).toBeGreaterThan(2000)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
    const [from, to] = [rows[0], rows.at(-1)].map(({ clickedAt }) => clickedAt.slice(0, 10))
    const report = await paste(
      `curl -s -H 'Authorization: ApiKey ${welcome.key}' '${welcome.url}/api/v1/reports?group_by=day&from=${from}&to=${to}'`,
    )
    expect(report.totals.clicks).toBe(rows.filter(({ isBot, isTest }) => !isBot && !isTest).length)
    expect((await runJson(['key', 'list', '--account', 'demo'], environment)).keys).toHaveLength(2)
    expect(await stop()).toBe(0)
  })
})

describe('the subcommand demo', () => {
  it('imports rows into any account, in the currency of the account', async () => {
    await runHere(['account', 'create', '--name', 'Play', '--id', 'playground', '--currency', 'EUR'], environment)
    const words = ['demo', '--account', 'playground', '--clicks', '400', '--days', '30', '--seed', '7']
    const tallies: DemoTallies = await runJson(words, environment)
    expect(tallies.clicks.inserted).toBeGreaterThan(300)
    expect(tallies.campaigns.inserted).toBe(20)
    expect(tallies['pixel-events'].inserted).toBeGreaterThan(60)
    for (const resource of ['clicks', 'conversions', 'pixel-events', 'offers'] as const) {
      expect(tallies[resource].rejected).toBe(0)
    }
  })

  it('stores every row of its plan, and stores none twice when it runs again', async () => {
    const account = await createAccount(stores.postgres, { name: 'Exact', plan: 'scale', currency: 'EUR' })
    if (!account) throw new Error('no account')
    const plan = planDemo({ seed: 7, clicks: 2000, days: 30, nowMs: testNowMs, currency: 'EUR' })
    const fill = () =>
      fillDemo(stores, account, plan, {
        onMessage: () => {},
        signal: new AbortController().signal,
        onProgress: () => {},
      })
    const clicks = [...clickRows(plan)].length
    const conversions = new Set([...conversionRows(plan)].map(({ id }) => id)).size
    const first = await fill()
    expect([first.clicks.inserted, first.conversions.inserted]).toEqual([clicks, conversions])
    const second = await fill()
    expect(second.clicks).toMatchObject({ inserted: 0, duplicates: clicks })
    expect(second.conversions).toMatchObject({ inserted: 0, updated: 0 })
    expect(second.campaigns).toMatchObject({ inserted: 0, updated: 0, duplicates: 20 })
  })

  it('rejects an unknown account and invalid numbers', async () => {
    const demo = (...words: string[]) => runHere(['demo', '--account', ...words], environment)
    expectOneLine(await demo('missing'), 1, /no such account: missing in .+; see: account list\.$/m)
    for (const option of ['--clicks=0', '--days=367', '--seed=-1', '--clicks=1e3']) {
      expectOneLine(await demo('playground', option), 2, '')
    }
  })
})
