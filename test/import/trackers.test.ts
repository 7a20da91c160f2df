// @module-tag all

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runHere } from '../cli/runCommand.ts'
import { blocksOf } from '../docs/shellBlocks.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { makeAccount, rowsOf } from './runImport.ts'

const stores = useTestStores()
const root = join(import.meta.dirname, '../..')
const folder = 'docs/examples/trackers'
const lines = blocksOf('docs/imports.md').flatMap((block) => block.commands)
const commands = lines.filter((line) => line.includes(folder))
const ofFile = (name: string) => lines.find((line) => line.includes(`/${name}`)) ?? ''

const exportedAt = '2026-11-25T12:00:00Z'

/** Imports a sample file with the command of docs/imports.md. */
async function importSample(account: string, name: string, updatedAt = exportedAt): Promise<object> {
  const words = [...ofFile(name).matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word)
  const options = words.slice(1).map((word) => (word === 'acme' ? account : word.replace(exportedAt, updatedAt)))
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
