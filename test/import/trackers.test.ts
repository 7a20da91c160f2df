// @module-tag all

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runHere } from '../cli/runCommand.ts'
import { blocksOf } from '../docs/shellBlocks.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { makeAccount, rowsOf } from './runImport.ts'

const stores = useTestStores()
const temporary = useFolder()
const root = join(import.meta.dirname, '../..')
const folder = 'docs/examples/trackers'
const lines = blocksOf('docs/imports.md').flatMap((block) => block.commands)
const commands = lines.filter((line) => line.includes(folder))
const ofFile = (name: string) => lines.find((line) => line.includes(`/${name}`)) ?? ''

const exportedAt = '2026-11-25T12:00:00Z'

/** Imports a sample file with the command of docs/imports.md. @param file instead of the sample */
async function importSample(account: string, name: string, updatedAt = exportedAt, file?: string): Promise<object> {
  const words = [...ofFile(name).matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word)
  const options = words.slice(1).map((word) => {
    if (word.endsWith(`/${name}`)) return file ?? word
    return word === 'acme' ? account : word.replace(exportedAt, updatedAt)
  })
  const { code, stdout, stderr } = await runHere([...options, '--json'], stores.environment)
  expect([code, stderr.replace(/^warning: .*\n/, '')], name).toEqual([0, ''])
  return JSON.parse(stdout)
}

it('the documentation imports every sample file of a tracker', async () => {
  const files = await readdir(join(root, folder))
  expect(files.filter((name) => ofFile(name) === '')).toEqual([])
  expect(files).toHaveLength(commands.length)
})

const click = { clicked: '2026-11-20 14:15:09', country: 'DE', device: 'mobile', cost: 0.04 }
const conversion = {
  clicked: '2026-11-20 14:15:09',
  converted: '2026-11-20 15:02:41',
  status: 'approved',
  revenue: 12.5,
}
/** The same times in exports in UTC. */
const utc = { clicked: '2026-11-20 15:15:09', converted: '2026-11-20 16:02:41' }
/** Google Ads tells the date of a click. */
const day = { clicked: '2026-11-19 23:00:00' }

it.each([
  ['voluum', { ...click, clicked: utc.clicked, cost: null }, { ...conversion, ...utc }],
  ['keitaro', click, conversion],
  ['redtrack', { ...click, clicked: utc.clicked }, { ...conversion, ...utc }],
  ['binom', click, conversion],
  [
    'google-ads',
    { ...click, ...day, country: '', cost: null },
    { ...conversion, ...day, converted: '2026-11-20 17:02:41', revenue: 49.9 },
  ],
] as const)(
  'imports the clicks and conversions of %s, and joins them',
  async (tracker, expectedClick, expectedConversion) => {
    const account = await makeAccount(stores)
    const files = await readdir(join(root, folder))
    for (const name of files.filter((file) => file.startsWith(`${tracker}-`)))
      expect(await importSample(account, name)).toMatchObject({ rejected: 0, duplicates: 0, updated: 0 })
    const query = `SELECT id, toString(toDateTime(clicked_at, 'UTC')) AS clicked, country, device, toFloat64(cost) AS cost
     FROM clicks WHERE account_id = '${account}' ORDER BY clicked_at LIMIT 1`
    const [first] = await rowsOf<{ id: string }>(stores, query)
    expect(first).toMatchObject(expectedClick)
    const statement = `SELECT click_id AS id, toString(toDateTime(converted_at, 'UTC')) AS converted,
       toString(toDateTime(clicked_at, 'UTC')) AS clicked, status, toFloat64(revenue) AS revenue
     FROM conversions FINAL WHERE account_id = '${account}' ORDER BY converted_at LIMIT 1`
    const [converted] = await rowsOf(stores, statement)
    expect(converted).toMatchObject({ ...expectedConversion, id: first?.id })
    const conversions = files.find((name) => name.startsWith(`${tracker}-conv`)) ?? ''
    const later = await importSample(account, conversions, '2026-11-26T12:00:00Z')
    expect(later, 'a later export replaces the conversions').toMatchObject({ inserted: 0, duplicates: 0, rejected: 0 })
  },
)

it.each(['meta', 'google-ads', 'tiktok', 'pushnami'])(
  'a cost sheet of %s that is corrected twice has the amounts of the last correction, in lists and sums',
  async (network) => {
    const account = await makeAccount(stores)
    const name = `${network}.csv`
    const [header = '', ...rows] = (await readFile(join(root, 'docs/examples/costs', name), 'utf8')).trim().split('\n')
    const at = header.split(',').findIndex((column) => ['cost', 'spend', 'total_spend'].includes(column))
    const amounts = (added: number) => rows.map((row) => Number(row.split(',')[at]) + added)
    for (const [added, counted] of [
      [0, 'inserted'],
      [1.5, 'updated'],
      [-2, 'updated'],
    ] as const) {
      const corrected = rows.map((row, index) =>
        row
          .split(',')
          .with(at, `${amounts(added)[index]?.toFixed(6)}`)
          .join(','),
      )
      await writeFile(temporary(name), [header, ...corrected, ''].join('\n'))
      const done = await importSample(account, name, undefined, temporary(name))
      expect(done).toMatchObject({ read: rows.length, [counted]: rows.length, rejected: 0 })
    }
    const query = `SELECT toFloat64(sum(cost)) AS cost, toFloat64(sum(cost_base)) AS base,
         (SELECT toFloat64(sum(cost)) FROM sums_by_day WHERE account_id = '${account}' AND dimension = 'campaign') AS summed
       FROM costs FINAL WHERE account_id = '${account}'`
    const [found] = await rowsOf<{ cost: number; base: number; summed: number }>(stores, query)
    expect(found?.cost).toBeCloseTo(amounts(-2).reduce((sum, amount) => sum + amount, 0))
    expect(found?.summed).toBe(found?.base)
  },
)
