// @module-tag all

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { recoverAccounts } from '../../src/writer/serverRecovery.ts'
import { rowsOfAccount, storeRows } from '../feed/openFeed.ts'
import { importContent, rowsOf } from '../import/runImport.ts'
import { useTestApp } from '../kit/app.ts'
import { expireProcessOf } from '../kit/leases.ts'
import { changeTables } from '../kit/rows.ts'
import { storedRowsOf } from '../writer/retention/retainedAccount.ts'
import { expectOneLine, runHere, runJson, start } from './runCommand.ts'

// Personal fields have texts with these words, so that they can be found in any file.
const erased = 'erasable'
const kept = 'permanent'

const server = useTestApp()
const keys: Record<string, string> = {}

beforeAll(async () => {
  server.stores.markDirty()
  await storePlainText()
  await setErasuresBack()
  for (const id of ['acme', 'killed', 'other', 'restored']) keys[id] = await server.account(id)
  await importAll('acme', erased)
  await storeRows(server.stores, rowsOfAccount('other', rowsWith('killable')))
})

const tables = ['clicks', 'converted_click_rows', 'conversions', 'pixel_events']
const click = (id: string, month: string, word: string) => ({
  id,
  clickedAt: `2024-${month}-05T10:00:00.000Z`,
  campaignId: 'k1',
  country: 'FR',
  cost: 0.5,
  visitorId: `${word}-visitor`,
  region: `${word}-region`,
  city: `${word}-city`,
  referrer: `https://${word}.example/${id}`,
  userAgent: `${word} agent`,
  ip: '203.0.113.0',
  subIds: { sub1: `${word}-sub`, sub10: `${word}-sub10` },
  externalClickId: `${word}-external`,
  utmSource: `${word}-utm`,
  utmTerm: `${word}-term`,
})
const conversion = (id: string, more: object) => ({
  id,
  convertedAt: '2024-11-06T10:00:00.000Z',
  status: 'pending',
  revenueBase: 9,
  ...more,
})
const event = (id: string, more: object) => {
  const at = '2024-11-06T11:00:00.000Z'
  return { id, eventName: 'signup', occurredAt: at, receivedAt: at, ...more }
}

const rowsWith = (word: string) => ({
  campaigns: [{ id: 'k1', name: 'K' }],
  clicks: [
    click('c1', '10', word),
    click('c2', '11', word),
    click('c3', '11', kept),
    { ...click('c4', '11', kept), visitorId: null },
  ],
  conversions: [
    conversion('v1', { clickId: 'c1' }),
    conversion('v2', { clickId: 'c2', subIds: { sub2: `${word}-own` } }),
    conversion('v3', { visitorId: `${word}-visitor`, subIds: { sub2: `${word}-own` } }),
    conversion('v4', { clickId: 'c3' }),
  ],
  'pixel-events': [
    event('e1', { clickId: 'c1', properties: { plan: `${word}-plan` } }),
    event('e2', { visitorId: `${word}-visitor`, campaignId: 'k1', properties: { plan: `${word}-plan` } }),
    event('e3', { clickId: 'c3', visitorId: `${kept}-visitor`, properties: { plan: `${kept}-plan` } }),
  ],
})

async function importAll(account: string, word: string) {
  const { stores } = server
  const rows = rowsWith(word)
  await storeRows(stores, rowsOfAccount(account, rows))
  // A second version, so that an earlier one has personal fields too.
  const approved = rows.conversions.map((row) => ({
    ...row,
    status: 'approved',
    updatedAt: '2024-11-07T00:00:00.000Z',
  }))
  await importContent(stores, account, 'conversions', approved)
}

/** Stores texts uncompressed, so that a search of files finds each of them. Columns without a codec have the one of their table. */
async function storePlainText(): Promise<void> {
  const columns = await rowsOf<{ table: string; name: string }>(
    server.stores,
    `SELECT table, name FROM system.columns
     WHERE database = currentDatabase() AND type LIKE '%String%' AND table IN ('${tables.join("', '")}')
       AND compression_codec != '' AND NOT is_in_primary_key`,
  )
  for (const table of tables) {
    const changes = columns
      .filter((column) => column.table === table)
      .map(({ name }) => `MODIFY COLUMN ${name} CODEC(NONE)`)
    if (changes.length > 0) await changeTables(server.stores, `ALTER TABLE ${table} ${changes.join(', ')}`)
    await changeTables(server.stores, `ALTER TABLE ${table} MODIFY SETTING default_compression_codec = 'NONE'`)
  }
}

async function filesWith(text: string, folder = server.stores.settings.DATA_DIR): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path).catch(() => undefined)
    if (content?.includes(text)) found.push(path)
  }
  return found
}

/** Dates each erasure a minute before it is stored: no event from before it is in flight, so nothing waits for one. */
async function setErasuresBack(): Promise<void> {
  const { postgres } = server.stores
  await postgres`
    CREATE FUNCTION set_back() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.erased_at := NEW.erased_at - interval '1 minute';
      RETURN NEW;
    END $$`
  await postgres`
    CREATE TRIGGER set_back BEFORE INSERT ON erasures
    FOR EACH ROW WHEN (NEW.erased_at > clock_timestamp() - interval '30 seconds') EXECUTE FUNCTION set_back()`
}

const body = async (account: string, path: string) => (await server.get(path, keys[account])).json()
const tributary = (...words: string[]) => runHere([...words, '--json'], server.stores.environment)
const json = (...words: string[]) => runJson(words, server.stores.environment)
const differencesOf = async (account: string) =>
  JSON.parse((await tributary('verify', '--account', account)).stdout).differences

/** All rows of an account in the tables with personal fields, with the rows that merges will remove. */
async function personalRowsOf(account: string): Promise<string> {
  const from = (table: string) => `FROM ${table} WHERE account_id = '${account}'`
  const queries = [
    `SELECT search_text, row_text ${from('conversions')}`,
    ...['clicks', 'converted_click_rows'].map((table) => `SELECT page_text ${from(table)}`),
    ...tables.map((table) => `SELECT * ${from(table)}`),
  ]
  return JSON.stringify(await Promise.all(queries.map((query) => rowsOf(server.stores, query))))
}

/** Events with a hash that does not match its text, in the table and in the projection: it could identify an erased visitor. */
async function eventsWithOtherHashes(account: string): Promise<unknown[]> {
  const read = (usesProjections: 0 | 1) =>
    rowsOf(
      server.stores,
      `SELECT id FROM pixel_events
       WHERE account_id = '${account}' AND occurred_at > '2020-01-01'
         AND (visitor_hash != sipHash64(visitor_id) OR click_hash != sipHash64(click_id))
       ORDER BY occurred_at
       SETTINGS optimize_use_projections = ${usesProjections}, preferred_optimize_projection_name = 'by_occurred_at'`,
    )
  return [...(await read(0)), ...(await read(1))]
}

async function numbersOf(account: string): Promise<unknown[]> {
  const range = 'from=2024-09-01&to=2024-12-31'
  const groups = ['country', 'campaign', 'day'].map((by) => `/reports?group_by=${by}&${range}`)
  const numbers = await Promise.all(
    [...groups, `/stats/daily?${range}`].map(async (path) => ({ ...(await body(account, path)), asOf: 0 })),
  )
  const rows = await Promise.all(
    ['/clicks', '/conversions', '/events'].map(async (path) => {
      const { data } = await body(account, path)
      return data.map(({ id, cost, revenueBase, status, country }: Record<string, unknown>) => ({
        id,
        cost,
        revenueBase,
        status,
        country,
      }))
    }),
  )
  return [...numbers, ...rows]
}

describe('erase --visitor', () => {
  it('removes every personal text from the files on disk; numbers and other rows are unchanged', async () => {
    const { CLICKHOUSE_URL, DATABASE_URL } = server.stores.settings
    const isEmbedded = CLICKHOUSE_URL === undefined && DATABASE_URL === undefined
    const numbers = await numbersOf('acme')
    const others = await storedRowsOf(server.stores, 'other')
    const { asOf } = await body('acme', '/clicks?updated_since=1970-01-01')
    if (isEmbedded) {
      const files = await filesWith(erased, join(server.stores.settings.DATA_DIR, 'clickhouse', 'store'))
      expect(files.length).toBeGreaterThan(tables.length)
    }
    const words = ['erase', '--account', 'acme', '--visitor', `${erased}-visitor`]
    expect(await json(...words)).toEqual({ account: 'acme', clicks: 2, conversions: 3, events: 2 })
    expect(await personalRowsOf('acme')).not.toContain(erased)
    expect(await personalRowsOf('acme')).toContain(kept)
    if (isEmbedded) expect(await filesWith(erased)).toEqual([])
    expect(await eventsWithOtherHashes('acme')).toEqual([])
    expect(await numbersOf('acme')).toEqual(numbers)
    expect(await storedRowsOf(server.stores, 'other')).toBe(others)
    for (const path of [`/conversions/search?q=${erased}`, `/events?visitor_id=${erased}-visitor`])
      expect((await body('acme', path)).data).toEqual([])
    const moved = await body('acme', `/clicks?updated_since=${asOf}`)
    expect(moved.data.map(({ id }: { id: string }) => id).sort()).toEqual(['c1', 'c2'])
    const { stdout: exported } = await runHere(['export', 'clicks', '--account', 'acme'], server.stores.environment)
    expect([exported.includes('"c1"'), exported.includes(erased)]).toEqual([true, false])
  })

  it('finds nothing when it is repeated, and logs no identifier', async () => {
    const words = ['erase', '--account', 'acme', '--visitor', `${erased}-visitor`]
    expect(await json(...words)).toEqual({ account: 'acme', clicks: 0, conversions: 0, events: 0 })
    const { stdout } = await tributary('audit', 'list', '--account', 'acme')
    const entry = JSON.parse(stdout).entries.find(({ action }: { action: string }) => action === 'erasure.add')
    expect(entry.details).toEqual({ kind: 'visitor', hash: expect.stringMatching(/^[0-9A-F]{64}$/) })
    expect(stdout).not.toContain(erased)
  })

  it('keeps rows blank that are imported again or for the first time; later rows are new data', async () => {
    const { stores } = server
    const rows = rowsWith(erased)
    const declined = { status: 'declined', updatedAt: '2024-11-08T00:00:00.000Z' }
    const again = rows.conversions.map((row) => ({ ...row, ...declined }))
    expect(await importContent(stores, 'acme', 'conversions', again)).toMatchObject({ updated: 4 })
    // An event of a click that arrives after it, both from before the erasure.
    const early = event('e9', { clickId: 'c9', properties: { plan: `${erased}-plan` } })
    await importContent(stores, 'acme', 'pixel-events', [...rows['pixel-events'], early])
    await importContent(stores, 'acme', 'clicks', [...rows.clicks, click('c9', '09', erased)])
    expect(await personalRowsOf('acme')).not.toContain(erased)
    const later = { ...click('c10', '11', erased), clickedAt: '2099-01-01T00:00:00.000Z' }
    await importContent(stores, 'acme', 'clicks', [later])
    expect((await body('acme', '/clicks?limit=1')).data).toMatchObject([{ id: 'c10', visitorId: `${erased}-visitor` }])
    expect(await differencesOf('acme')).toEqual([])
  })
})

it('erase --click erases one click with its conversions and events', async () => {
  await importContent(server.stores, 'acme', 'pixel-events', [event('e4', { clickId: 'c4', properties: { a: 'b' } })])
  const counts = { clicks: 1, conversions: 0, events: 1 }
  expect(await json('erase', '--account', 'acme', '--click', 'c4')).toEqual({ account: 'acme', ...counts })
  const { data } = await body('acme', '/clicks?limit=200')
  const found = (id: string) => data.find((row: { id: string }) => row.id === id)
  expect(found('c4')).toMatchObject({ city: null, referrer: null, ip: null, country: 'FR', cost: 0.5 })
  expect(found('c3')).toMatchObject({ city: `${kept}-city` })
})

it.each<[string[], string | RegExp, number?]>([
  [['erase', '--visitor', 'v'], 'erase requires --account.'],
  [['erase', '--account', 'acme'], 'erase requires either --visitor or --click.'],
  [['erase', '--account', 'acme', '--visitor', 'v', '--click', 'c'], 'erase requires either --visitor or --click.'],
  [['erase', '--account', 'missing', '--visitor', 'v'], /no such account: missing/, 1],
])('erase --click %j is refused', async (words, message, code = 2) => {
  expectOneLine(await tributary(...words), code, message)
})

it('an erasure is completed by a running server after the command was killed', { tags: 'long' }, async () => {
  const { stores } = server
  await importAll('killed', 'killable')
  const [numbers, others] = [await numbersOf('killed'), await storedRowsOf(stores, 'other')]
  const child = start(['erase', '--account', 'killed', '--visitor', 'killable-visitor'], stores.environment)
  const begun = async () => (await stores.postgres`SELECT 1 FROM event_rewrites`).length
  await expect.poll(begun, { interval: 5 }).toBe(1)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await expireProcessOf(stores, 'killed')
  // As a server does each minute.
  const left = async () => {
    await recoverAccounts(stores, { info: () => {}, warn: () => {} }, new AbortController().signal)
    return await stores.postgres`
      SELECT account_id FROM erasures WHERE NOT is_complete
      UNION SELECT account_id FROM event_rewrites
      UNION SELECT account_id FROM import_batches`
  }
  await expect.poll(left).toEqual([])
  expect(await personalRowsOf('killed')).not.toContain('killable')
  expect(await numbersOf('killed')).toEqual(numbers)
  expect(await storedRowsOf(stores, 'other')).toBe(others)
})

describe('erase list and erase apply', () => {
  it('erase again what a restore brought back; verify reports it and repairs it', { tags: 'long' }, async () => {
    const { stores } = server
    await importContent(stores, 'restored', 'clicks', [{ ...click('r1', '11', kept), visitorId: 'v-restored' }])
    await json('erase', '--account', 'restored', '--visitor', 'v-restored')
    const { stdout } = await tributary('erase', 'list', '--account', 'restored')
    const restore = () =>
      changeTables(
        stores,
        `ALTER TABLE clicks UPDATE city = 'restored-city' WHERE account_id = 'restored' AND id = 'r1'`,
      )
    await restore()
    expect(await differencesOf('restored')).toEqual([
      { kind: 'not_erased', accountId: 'restored', table: 'clicks', rows: 1 },
    ])
    await tributary('verify', '--account', 'restored', '--repair')
    expect(await personalRowsOf('restored')).not.toContain('restored-city')
    // Postgres is restored as well, to a state without the erasure.
    await restore()
    await stores.postgres`DELETE FROM erasures WHERE account_id = 'restored'`
    const file = join(stores.settings.DATA_DIR, 'erasures.json')
    await writeFile(file, stdout)
    const applied = await tributary('erase', 'apply', file)
    expect([applied.code, JSON.parse(applied.stdout)]).toMatchObject([0, { accounts: 1, clicks: 1 }])
    expect(await personalRowsOf('restored')).not.toContain('restored-city')
    expect((await tributary('erase', 'list', '--account', 'restored')).stdout).toBe(stdout)
  })

  it.each([
    ['2024-99-99T00:00:00.000Z', 'is no time'],
    ['2024-02-30T00:00:00.000Z', 'is no day'],
    ['2098-01-01T00:00:00.000Z', 'is in the future'],
  ])('are refused when a time of the list (%s) %s', async (erasedAt) => {
    const file = join(server.stores.settings.DATA_DIR, 'invalid.json')
    const erasure = { account: 'restored', kind: 'click', key: randomUUID(), hash: 'A'.repeat(64), erasedAt }
    await writeFile(file, JSON.stringify({ erasures: [erasure] }))
    const { code, stderr } = await tributary('erase', 'apply', file)
    expect([code, stderr]).toEqual([1, expect.stringContaining('/erasures/0/erasedAt')])
  })
})
