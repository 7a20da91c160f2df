// @module-tag all

import { beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { storeClicks } from '../kit/rows.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const stores = useTestStores()
const report = (...words: string[]) => runHere(['report', '--account', 'acme', ...words], stores.environment)
const day = ['--from', '2026-11-20', '--to', '2026-11-20', '--group-by', 'sub1', '--metrics', 'clicks']

beforeAll(async () => {
  await createAccount(stores.postgres, { id: 'acme', name: 'acme', plan: 'pro', currency: 'USD' })
  await createAccount(stores.postgres, { id: 'other', name: 'other', plan: 'pro', currency: 'USD' })
  const click = (n: number, sub1: string) => ({ id: `c${n}`, clicked_at: '2026-11-20 10:00:00.000', sub1 })
  await storeClicks(stores, 'acme', [click(1, 'a'), click(2, 'a'), click(3, 'b'), click(4, 'c')])
  await storeClicks(stores, 'other', [click(5, 'secret')])
})

describe('tributary report', () => {
  it('prints the rows of the account as CSV, and with --all those beyond the limit, then the totals once', async () => {
    const head = '"sub1_id","sub1_name","clicks"\n"a","a",2\n'
    expect(await report(...day, '--limit', '1')).toEqual({ code: 0, stdout: head, stderr: '' })
    const first = await report(...day, '--limit', '1', '--totals')
    expect(first.stdout).toBe(`${head}"(total)","of 3 rows",4\n`)
    const all = await report(...day, '--limit', '1', '--all', '--totals')
    expect(all.stdout).toBe(`${head}"b","b",1\n"c","c",1\n"(total)",,4\n`)
  })

  it('prints all rows as CSV without --limit; a table and JSON say when there are more', async () => {
    const rows = 1_580
    await createAccount(stores.postgres, { id: 'many', name: 'many', plan: 'pro', currency: 'USD' })
    const numbers = Array.from({ length: rows }, (_, n) => n)
    const clicks = numbers.map((n) => ({ id: `c${n}`, clicked_at: '2026-11-20 10:00:00.000', sub1: `v${n}` }))
    await storeClicks(stores, 'many', clicks)
    const print = (...words: string[]) => runHere(['report', '--account', 'many', ...day, ...words], stores.environment)
    const lines = (await print('--totals')).stdout.trimEnd().split('\n')
    expect([lines.length, new Set(lines).size, lines.at(-1)]).toEqual([rows + 2, rows + 2, `"(total)",,${rows}`])
    const last = (await print('--format', 'csv', '--offset', '1500', '--totals')).stdout.trimEnd().split('\n')
    expect([last.length, last.at(-1)]).toEqual([82, `"(total)",,${rows}`])
    const table = (await print('--format', 'table')).stdout.trimEnd().split('\n')
    expect([table.length, table.at(-1)]).toEqual([1_002, expect.stringMatching(/^\(total of 1580 rows\) +1580$/)])
    expect(JSON.parse((await print('--json')).stdout)).toMatchObject({ bucketCount: rows, truncated: true })
  })

  it('takes filters, range, count_at and sort by a change, as the API', async () => {
    const words = ['--from', '2026-11-20', '--to', '2026-11-20', '--group-by', 'sub1', '--metrics', 'clicks']
    const filters = ['--filters', '[["contains","sub1",["A","c"]],[">=","clicks",1]]', '--count-at', 'click']
    const compared = ['--compare', 'previous_period', '--sort', '-change.clicks', '--format', 'csv']
    const { stdout } = await report(...words, ...filters, ...compared)
    expect(stdout).toBe('"sub1_id","sub1_name","clicks","previous_clicks"\n"a","a",2,0\n"c","c",1,0\n')
    const ranged = ['--group-by', 'sub1', '--range', 'last_year', '--metrics', 'clicks', '--format', 'csv']
    expect(await report(...ranged)).toMatchObject({ code: 0, stdout: '"sub1_id","sub1_name","clicks"\n' })
    expectOneLine(await report(...ranged, '--days', '3'), 2, /--range .*--days/)
  })

  it('prints one JSON object with --json, and a table with the totals', async () => {
    const words = ['report', '--account', 'acme', ...day, '--limit', '2', '--all']
    const { data, totals, truncated } = await runJson(words, stores.environment)
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['a', 'b', 'c'])
    expect([totals, truncated]).toEqual([{ clicks: 4 }, false])
    const { stdout } = await report(...day, '--sub1', '!c', '--format', 'table')
    expect(stdout).toBe('sub1     clicks\na             2\nb             1\n(total)       3\n')
  })

  it('rejects parameters with the message of the API about its options, and exit code 2', async () => {
    for (const [words, line] of [
      [['--group-by', 'planet'], /--group-by must be one to three of campaign, /],
      [[...day, '--limit', '1', '--limit', '2'], /--limit was sent more than once/],
      [[...day, '--limit', '1001'], /--limit must be a whole number from 1 to 1000/],
      [[...day, '--tz', 'Mars/Olympus'], /--tz is not an IANA time zone/],
      [['--to', '2026-11-20', '--group-by', 'day'], /--to requires --from\./],
      [[...day, '--compare-from', '2026-11-19'], /--compare-to is missing; --compare-from requires it\./],
      [[...day, '--totals', '--format', 'table'], /--totals requires CSV; add --format csv, or omit --totals\./],
      [[...day, '--csv-bom', '--format', 'json'], /--csv-bom requires CSV; add --format csv, or omit --csv-bom\./],
      [[...day, '--format', 'xml'], /Allowed choices are table, csv, json/],
    ] as const)
      expectOneLine(await report(...words), 2, line)
    expectOneLine(await runHere(['report', '--account', 'nobody', ...day], stores.environment), 1, /no such account/)
  })
})
