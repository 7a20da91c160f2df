// @module-tag long

import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { exitOf, start } from '../cli/runCommand.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { until } from '../kit/until.ts'
import { withWriter } from './withWriter.ts'

/** Wide enough that a batch has some twelve thousand. */
const rows = 36_000
const linesUntil = (end: number) =>
  Array.from({ length: end }, (_, index) => {
    const clickedAt = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString()
    const row = {
      id: `click-${index}`,
      clickedAt,
      campaignId: `c${index % 7}`,
      cost: 0.01,
      userAgent: 'x'.repeat(2_500),
    }
    return `${JSON.stringify(row)}\n`
  }).join('')

const stores = useTestStores()

async function storedClicks(account: string): Promise<number> {
  const [row] = await rowsOf<{ n: number }>(stores, `SELECT count() AS n FROM clicks WHERE account_id = '${account}'`)
  return row?.n ?? 0
}

it('an import that was interrupted and then killed is completed exactly by the next one', {
  timeout: 400_000,
}, async () => {
  const account = await makeAccount(stores)
  const startImport = () => start(['import', 'clicks', '-', '--account', account, '--json'], stores.environment)
  for (const [signal, end] of [['SIGINT', 18_000] as const, ['SIGKILL', 35_000] as const]) {
    const before = await storedClicks(account)
    const child = startImport()
    const [exit, stderr] = [exitOf(child), text(child.stderr)]
    // A killed import closes its standard input.
    child.stdin.on('error', () => {})
    child.stdin.write(linesUntil(end))
    await until(async () => (await storedClicks(account)) > before, 120_000)
    child.kill(signal)
    expect(await exit).toBe(signal === 'SIGINT' ? 1 : null)
    expect(await stderr).toMatch(
      signal === 'SIGINT'
        ? /^(Database unavailable while storing a batch; retrying\.\n)?(warning: \d+ rows name campaigns [^\n]+\n)?error: interrupted\. Stored so far: \d+ of \d+ rows read\. Run it again with the same rows in the same order to complete it\.\n$/
        : '',
    )
    expect(await storedClicks(account)).toBeLessThan(rows)
  }
  const child = startImport()
  child.stdin.end(linesUntil(rows))
  const [code, stdout] = await Promise.all([exitOf(child), text(child.stdout)])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: rows, rejected: 0 }])
  const counted = `SELECT count() AS n, uniqExact(id) AS ids FROM clicks WHERE account_id = '${account}'`
  expect(await rowsOf(stores, counted)).toEqual([{ n: rows, ids: rows }])
  expect(await withWriter(stores, account, findDifferences)).toEqual([])
})
