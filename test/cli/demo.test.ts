// @module-tag all

import { execFile } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { clickRows } from '../../src/cli/demoData/clicks.ts'
import { conversionRows, pixelEventRows } from '../../src/cli/demoData/conversions.ts'
import { fillDemo } from '../../src/cli/demoData/fill.ts'
import { demoOf } from '../../src/cli/demoData/visits.ts'
import { testNowMs } from '../kit/app.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { running as watching } from '../writer/withWriter.ts'
import { exitOf, expectOneLine, runHere, serve, start } from './runCommand.ts'

const stores = useTestStores()
let environment: Record<string, string>

beforeAll(() => {
  environment = { ...stores.environment, PORT: '0' }
})

/** Runs a line of the welcome in a shell that has the addresses of servers, which the line leaves out, but no `DATA_DIR`. */
async function paste(line: string) {
  const { DATA_DIR, ...servers } = environment
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, ...servers } })
  return JSON.parse(stdout)
}

describe('serve --demo', () => {
  it('refuses a database with other accounts, even with an account named demo', async () => {
    await runHere(['account', 'create', '--name', 'Demolition Ltd', '--id', 'demo'], environment)
    const line = /--demo needs an empty database, but this one has the account demo\./
    expectOneLine(await runHere(['serve', '--demo'], environment), 1, line)
    await stores.postgres`DELETE FROM accounts`
  })

  it.skipIf(!isInstalled('curl'))(
    'fills an empty database, prints a key, the documentation URL and working example requests, and with --live feeds rows of now beside a feed',
    async () => {
      const { printed, end } = await serve(environment, '--demo', '1000', '--live')
      const { url, docs, explore, key, calls, command } = printed
      for (const page of [docs, explore]) expect((await fetch(page)).status).toBe(200)
      expect(new URL(explore).hash).toBe(`#key=${key}`)
      const [report, drillDown, daily, funnel, clicks, conversions, event] = await Promise.all(calls.map(paste))
      expect(report.data.length).toBe(report.bucketCount)
      expect(report.bucketCount).toBeGreaterThan(15)
      expect(report.totals.clicks).toBeGreaterThan(200)
      expect(report.totals.revenue).toBeGreaterThan(0)
      expect(report.data[0].name).toEqual(expect.any(String))
      expect(drillDown.data).toHaveLength(5)
      expect(drillDown.data[0].dimensions).toEqual({
        campaign: { id: expect.stringMatching(/^cmp-/), name: expect.any(String) },
        country: { id: expect.stringMatching(/^[A-Z]{2}$/), name: expect.any(String) },
      })
      expect(drillDown.previous.totals.clicks).toBeGreaterThan(40)
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
      const newestOf = async (list: string) => {
        const response = await fetch(`${url}/api/v1/${list}?limit=1`, { headers: { authorization: `ApiKey ${key}` } })
        return ((await response.json()) as { data: [{ id: string }] }).data[0].id
      }
      for (const list of ['clicks', 'conversions'])
        await expect.poll(() => newestOf(list), { interval: 500 }).toMatch(/^live-/)
      const feed = start(['feed', '--stdin'], environment)
      const ended = exitOf(feed)
      feed.stdin.end('{"accountId":"demo","resource":"clicks","id":"c-now","clickedAt":"2026-11-20T10:00:00Z"}')
      expect([await text(feed.stdout), await ended]).toEqual([
        '{"line":1,"duplicates":0,"older":0,"conflicts":0,"rejected":0}\n',
        0,
      ])
      const newest = await newestOf('clicks')
      await expect.poll(() => newestOf('clicks'), { interval: 500 }).not.toBe(newest)
      expect(await end()).toBe(0)
      expectOneLine(await runHere(['serve', '--live'], environment), 2, /--live needs --demo\./)
    },
  )
})

it('the subcommand demo stores every row of its plan, and stores none twice when it runs again', async () => {
  const account = await createAccount(stores.postgres, { name: 'Exact', plan: 'scale', currency: 'EUR' })
  if (!account) throw new Error('no account')
  const demo = demoOf({ seed: 7, clicks: 200, days: 7, nowMs: testNowMs, currency: 'EUR' })
  const fill = () => fillDemo(stores, account, demo, { ...watching, onProgress: () => {} })
  const clicks = [...clickRows(demo)].length
  const conversions = new Set([...conversionRows(demo)].map(({ id }) => id)).size
  const events = [...pixelEventRows(demo)].length
  const first = await fill()
  const inserted = [first.clicks, first.conversions, first['pixel-events']].map((tally) => tally.inserted)
  expect(inserted).toEqual([clicks, conversions, events])
  const second = await fill()
  expect(second.clicks).toMatchObject({ inserted: 0, duplicates: clicks })
  expect(second.conversions).toMatchObject({ inserted: 0, updated: 0 })
  expect(second.campaigns).toMatchObject({ inserted: 0, updated: 0, duplicates: 20 })
})

it('the subcommand demo rejects an unknown account and invalid numbers', async () => {
  const demo = (...words: string[]) => runHere(['demo', '--account', ...words], environment)
  expectOneLine(await demo('missing'), 1, /no such account: missing in .+; see: account list\.$/m)
  for (const option of ['--clicks=0', '--days=367', '--seed=-1', '--clicks=1e3'])
    expectOneLine(await demo('demo', option), 2, '')
})
