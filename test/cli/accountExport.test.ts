// @module-tag all
// @module-tag postgres

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { resourceNames } from '../../src/import/resourceNames.ts'
import { commit, version } from '../../src/package.ts'
import { completeErasures } from '../../src/writer/erasure/completeErasures.ts'
import { addErasures, identifierHash } from '../../src/writer/erasure/erasures.ts'
import { rowsOfAccount, storeRows } from '../feed/openFeed.ts'
import { rowsOf } from '../import/runImport.ts'
import { type TestApp, useTestApp } from '../kit/app.ts'
import { useFolder } from '../kit/fixtures.ts'
import { fullRows } from '../kit/fullRows.ts'
import { storeEvents } from '../kit/rows.ts'
import { withWriter } from '../writer/withWriter.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const source = useTestApp()
const target = useTestApp()
const folder = useFolder()
let key: string

const at = '2026-11-02T00:00:00.000Z'
/** Rows with every field, and rows that an erasure finds: some by their visitor, some by their click. */
const movedRows = {
  ...fullRows,
  clicks: [
    // In the range that the lists below read.
    ...fullRows.clicks.map((row) => ({ ...row, clickedAt: '2026-03-29T00:59:59.999Z' })),
    { id: 'k1', clickedAt: at, city: 'Lyon', cost: 1 },
    { id: 'k2', clickedAt: at, visitorId: 'gone', country: 'FR', subIds: { sub2: 'gone' } },
  ],
  conversions: [
    ...fullRows.conversions,
    ...[
      { id: 'by-visitor', visitorId: 'gone', revenue: 2, currency: 'USD', exchangeRate: 0.9 },
      { id: 'by-click', clickId: 'k1', subIds: { sub1: 'gone' } },
      { id: 'by-both', clickId: 'k2', visitorId: 'gone' },
    ].map((conversion) => ({ ...conversion, convertedAt: at, status: 'approved' })),
  ],
  'pixel-events': [
    ...fullRows['pixel-events'],
    ...[
      { id: 'by-visitor', visitorId: 'gone', properties: { plan: 'pro' } },
      { id: 'by-click', clickId: 'k1', properties: { plan: 'pro' } },
      { id: 'by-both', clickId: 'k2', visitorId: 'gone' },
      { id: 'by-other', visitorId: 'stays', properties: { plan: 'pro' } },
    ].map((event) => ({ ...event, eventName: 'signup', occurredAt: at, receivedAt: at })),
  ],
}

beforeAll(async () => {
  key = await source.account('acme', { currency: 'CHF' })
  await storeRows(source.stores, rowsOfAccount('acme', movedRows))
  await erase(source, 'acme', { visitor: 'gone', click: 'k1' })
  await succeed(source, 'account', 'export', '--account', 'acme', '--output', folder('acme'))
})

/** Erases a visitor and a click, as a minute ago: no event of that time is in flight. */
async function erase({ stores }: TestApp, account: string, ids: { visitor: string; click?: string }): Promise<void> {
  const key = randomUUID()
  const erasures = (['visitor', 'click'] as const).flatMap((kind) => {
    const id = ids[kind]
    if (id === undefined) return []
    return [{ kind, key, hash: identifierHash(key, kind, id), erasedMs: Date.now() - 60_000 }]
  })
  await withWriter(stores, account, async (writer) => {
    await addErasures(writer, erasures)
    await completeErasures(writer)
  })
}

const succeed = ({ stores }: TestApp, ...words: string[]) => runJson(words, stores.environment)
const manifestOf = async (name: string) => JSON.parse(await readFile(folder(name, 'account.json'), 'utf8'))

/** Imports a folder until it has conversions to store, which Postgres refuses. */
async function failAtConversions(name: string): Promise<void> {
  const { postgres } = target.stores
  await postgres`
    CREATE OR REPLACE FUNCTION fail_row() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'refused';
    END $$`
  await postgres`
    CREATE TRIGGER fail BEFORE INSERT ON import_batches
    FOR EACH ROW WHEN (NEW.resource = 'conversions') EXECUTE FUNCTION fail_row()`
  try {
    const ended = await runHere(['account', 'import', folder(name)], target.stores.environment)
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('refused') })
  } finally {
    await postgres`DROP FUNCTION fail_row CASCADE`
  }
}

async function fails(name: string): Promise<string> {
  const ended = await runHere(['account', 'import', folder(name)], target.stores.environment)
  expectOneLine(ended, 1, '')
  return ended.stderr
}

describe('an exported account', () => {
  it('is a folder for its owner only, with a file per resource, without secrets', async () => {
    const names = ['account.json', ...resourceNames.map((name) => `${name}.ndjson.gz`).sort()]
    expect((await readdir(folder('acme'))).sort()).toEqual(names)
    expect((await stat(folder('acme'))).mode & 0o777).toBe(0o700)
    expect(await readFile(folder('acme', 'account.json'), 'utf8')).not.toContain(key)
    expect(await readdir(folder())).toEqual(['acme'])
  })

  // Its reports and lists, for the same key: test/properties/lifeOfData.
  it('is imported, and exported again with equal hashes, keys and attributes', async () => {
    await succeed(target, 'account', 'import', folder('acme'))
    await succeed(target, 'account', 'export', '--account', 'acme', '--output', folder('again'))
    const [before, after] = await Promise.all(['acme', 'again'].map(manifestOf))
    expect(after.files).toEqual(before.files)
    expect(after.account).toEqual(before.account)
    const withoutUse = ({ keys }: { keys: object[] }) => keys.map((one) => ({ ...one, lastUsedAt: null }))
    expect(withoutUse(after)).toEqual(withoutUse(before))
    expect(Object.values<{ rows: number }>(before.files).every(({ rows }) => rows > 0)).toBe(true)
  })

  it('does not replace an existing folder, but the rest of an interrupted export', async () => {
    const output = folder('acme')
    const words = ['account', 'export', '--account', 'acme', '--output', output]
    expectOneLine(await runHere(words, source.stores.environment), 1, /^error: \S+ already exists; /)
    await mkdir(folder('third.incomplete'))
    for (const name of ['clicks.ndjson.gz', 'unknown']) await writeFile(folder('third.incomplete', name), 'old')
    await succeed(source, 'account', 'export', '--account', 'acme', '--output', folder('third'))
    expect((await manifestOf('third')).files).toEqual((await manifestOf('acme')).files)
    expect(await readdir(folder())).not.toContain('third.incomplete')
    expect(await readdir(folder('third'))).toEqual(await readdir(folder('acme')))
  })

  it('is not imported over another account', async () => {
    const manifest = await manifestOf('again')
    const other = { ...manifest, account: { ...manifest.account, createdAt: '2020-01-01T00:00:00.000Z' } }
    await writeFile(folder('again', 'account.json'), JSON.stringify(other))
    expect(await fails('again')).toContain('account acme already exists')
    await target.stores.postgres`UPDATE campaigns SET status = 'paused' WHERE account_id = 'acme'`
    expect(await fails('acme')).toContain('account acme already exists, and no import of this folder was interrupted')
    expect(await target.stores.postgres`SELECT DISTINCT status FROM campaigns WHERE account_id = 'acme'`).toEqual([
      { status: 'paused' },
    ])
  })
})

// `npm run faults -- "account import"` kills the command at each statement.
it('an import that was interrupted is completed by the next one, and does not store what was erased since', async () => {
  const { postgres } = target.stores
  const erased = 'visitor-of-moved'
  const moved = await source.account('moved', { currency: 'EUR' })
  const event = { id: 'e1', eventName: 'signup', occurredAt: at, visitorId: erased, properties: { plan: 'pro' } }
  const rows = {
    clicks: [{ id: 'k1', clickedAt: at, visitorId: erased, city: 'Lyon' }],
    conversions: [{ id: 'v1', convertedAt: at, visitorId: erased, status: 'approved' }],
    'pixel-events': [event],
  }
  await storeRows(source.stores, rowsOfAccount('moved', rows))
  await succeed(source, 'account', 'export', '--account', 'moved', '--output', folder('moved'))
  await failAtConversions('moved')
  expect(await postgres`SELECT 1 FROM api_keys WHERE account_id = 'moved'`).toEqual([])
  await erase(target, 'moved', { visitor: erased })
  await failAtConversions('moved')
  // The next writer erases them, such as the recovery of a server, if the import is not repeated.
  const states = await postgres`SELECT DISTINCT is_complete FROM erasures WHERE account_id = 'moved'`
  expect(states).toEqual([{ is_complete: false }])
  await succeed(target, 'account', 'import', folder('moved'))
  for (const path of ['/clicks', '/conversions', '/events']) {
    const response = await target.get(`${path}?from=2026-11-01&to=2026-11-30`, moved)
    expect(JSON.parse(response.body).data).toHaveLength(1)
    expect(response.body).not.toMatch(/visitor-of-moved|Lyon|"plan"/)
  }
})

it('an export fails if the import would refuse a row, and leaves no folder', async () => {
  await source.account('refused')
  await storeEvents(source.stores, 'refused', [{ id: 'not an id', visitor_id: 'v1' }])
  const words = ['account', 'export', '--account', 'refused', '--output', folder('refused')]
  const ended = await runHere(words, source.stores.environment)
  expectOneLine(ended, 1, /refused\.incomplete\/pixel-events\.ndjson\.gz cannot be imported: line 1: id: /)
  expect(await readdir(folder())).not.toContain('refused')
})

describe('a malformed account folder', () => {
  const key = {
    id: 'k-1',
    name: 'BI tool',
    hash: 'a'.repeat(64),
    prefix: 'trb_live_Abc1',
    scopes: ['read:clicks'],
    createdAt: '2025-01-01T00:00:00.000Z',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replacedBy: null,
  }
  const view = { filters: { sub1: ['aff42'] }, hidden: ['cost'] }
  const part = { ...key, prefix: 'trb_part_Abc1', view }
  const removed = {
    sums_by_day: '{"dimension":"campaign","day":"2025-01-10","value":"a\\"b","clicks":1,"cost":"0.25"}\n',
    sums_by_day_and_campaign:
      '{"dimension":"country","campaign_id":"k1","day":"2025-01-10","value":"FR","clicks":1,"cost":"0.25"}\n',
    sums_by_quarter_hour: '{"bucket":"2025-01-10 10:15:00","campaign_id":"k1","clicks":1,"cost":"0.25"}\n',
    click_index: '{"id":"c1","clicked_at":"2025-01-10 10:20:00.000","campaign_id":"k1"}\n',
  }
  const content: Record<string, string> = {
    campaigns: '{"id":"k1","name":"K1"}\n{"id":"k2","name":"K2"}\n',
    offers: '',
    'landing-pages': '',
    'traffic-sources': '',
    clicks: '',
    conversions: '',
    'pixel-events': '',
    ...removed,
  }

  /** Writes a folder with files of these contents. @param merged values of the manifest, or its text */
  async function write(merged: object | string = {}, texts: Record<string, string> = {}): Promise<void> {
    const all = Object.entries({ ...content, ...texts }).map(([name, text]) => {
      const rows = text.split('\n').length - 1
      return [name, { rows, sha256: createHash('sha256').update(text).digest('hex') }, gzipSync(text)] as const
    })
    await mkdir(folder('hostile'), { recursive: true })
    for (const [name, , bytes] of all) await writeFile(folder('hostile', `${name}.ndjson.gz`), bytes)
    const files = (isOfRemoved: boolean) => Object.fromEntries(all.filter(([name]) => name in removed === isOfRemoved))
    const manifest = {
      format: 1,
      program: { version, commit },
      account,
      keys: [key],
      erasures: [],
      retained: {
        clickMonths: null,
        eventMonths: null,
        clicksFrom: '2025-02-01T00:00:00.000Z',
        eventsFrom: null,
        files: files(true),
      },
      files: files(false),
    }
    const text = typeof merged === 'string' ? merged : JSON.stringify({ ...manifest, ...merged })
    await writeFile(folder('hostile', 'account.json'), text)
  }

  async function expectRefused(
    message: string,
    merged: object | string,
    texts?: Record<string, string>,
  ): Promise<void> {
    await write(merged, texts)
    expect(await fails('hostile')).toContain(message)
    expect(await target.stores.postgres`SELECT FROM accounts WHERE id = 'hostile'`).toEqual([])
  }

  const account = { id: 'hostile', name: 'Hostile', plan: 'pro', currency: 'EUR', createdAt: key.createdAt }
  const erasure = { kind: 'visitor', key: 'k', hash: 'A'.repeat(64), erasedAt: key.createdAt }
  const anyFile = { rows: 0, sha256: 'a'.repeat(64) }
  const noRows = Object.fromEntries(
    Object.keys(content)
      .filter((name) => !(name in removed))
      .map((name) => [name, anyFile]),
  )
  const retained = { clickMonths: null, eventMonths: null, clicksFrom: null, eventsFrom: null, files: {} }
  it.each<[string, object | string]>([
    ['account.json is no account of this version: /account/name:', { account: { ...account, name: 'a\0b' } }],
    ['no such plan: invented', { account: { ...account, plan: 'invented' } }],
    ['/account/createdAt:', { account: { ...account, createdAt: '+275760-09-13T00:00:00.000Z' } }],
    ['/account/id:', { account: { ...account, id: '../acme' } }],
    ['/account:', { account: 5 }],
    ['/keys/0/name:', { keys: [{ ...key, name: '\ud800' }] }],
    ['/keys/0/hash:', { keys: [{ ...key, hash: 'a' }] }],
    ['/keys/0/scopes/0: must be one of read:', { keys: [{ ...key, scopes: ['read:everything'] }] }],
    ['/keys/0/replacedBy: is not the id of one of its keys', { keys: [{ ...key, replacedBy: 'of-another-account' }] }],
    ['/keys/0/view: does not agree with its prefix', { keys: [{ ...key, prefix: 'trb_part_Abc1' }] }],
    ['/keys/0/view: does not agree with its prefix', { keys: [{ ...key, view }] }],
    ['/keys: two have the same id', { keys: [key, { ...key, hash: 'b'.repeat(64) }] }],
    ['/keys: two have the same hash', { keys: [key, { ...key, id: 'k-2' }] }],
    ['/erasures/0/key: must be a UUID', { erasures: [erasure] }],
    ['/retained/clicksFrom:', { retained: { ...retained, clicksFrom: '2025-01-15T00:00:00.000Z' } }],
    ['/retained/files: must have sums_by_day', { retained: { ...retained, clicksFrom: '2025-01-01T00:00:00.000Z' } }],
    ['account.json is no account: /program:', { program: undefined }],
    [
      'account.json has format 2; import it with version 99.1.0 or later',
      { format: 2, program: { version: '99.1.0', commit: 'abc' }, account: {} },
    ],
    ['/retained/files: must have no files', { retained: { ...retained, files: { '../../clicks': anyFile } } }],
    ['/files/..~1..~1x: Unexpected property', { files: { ...noRows, '../../x': anyFile } }],
    ['/files/campaigns:', { files: {} }],
    ['account.json cannot be read:', '{"format":1,"account":{"id":"hos'],
  ])('ends the import before anything is stored: %s', expectRefused)

  it.each([
    ['campaigns', 'line 2: name: must not contain', '{"id":"k1","name":"K"}\n{"id":"k","name":"\\u0000"}\n'],
    ['campaigns', 'line 1: is longer', `{"id":"${'k'.repeat(2 << 20)}"}\n`],
    ['campaigns', 'it is a JSON array', '[]\n'],
    ['offers', 'line 1: name: is required.', '{"id":"o"}\n'],
    ['clicks', 'line 1: id: must be', '{"id":"../../c","clickedAt":"2025-03-01T00:00:00Z"}\n'],
    ['clicks', 'line 1: plan: is not a field of clicks', '{"id":"c1","clickedAt":"2025-03-01T00:00:00Z","plan":"x"}\n'],
    ['conversions', 'line 1: is not JSON', '{"id":"v1","conve'],
    ['pixel-events', 'line 1: is not a JSON object', '5\n'],
    ['sums_by_day', 'line 1: 2025-02-01 is not in a removed month', removed.sums_by_day.replace('01-10', '02-01')],
    ['sums_by_day', 'line 1: is not a row of sums_by_day', removed.sums_by_day.replace('0.25', 'x')],
    ['click_index', 'line 1: is not a row of click_index', `{"id":"${'\\"'.repeat(400_000)}"}\n`],
  ])('ends the import before anything is stored: %s, %s', (name, reason, text) =>
    expectRefused(`${name}.ndjson.gz cannot be imported: ${reason}`, {}, { [name]: text }),
  )

  const later = { program: { version: '99.1.0', commit: 'abc' } }

  it.each<[string, Record<string, string>, object?]>([
    ['clicks.ndjson.gz cannot be imported: line 1: id: must be', { clicks: '{"id":"../../c","deviceModel":"x"}\n' }],
    ['is not a row of sums_by_day', { sums_by_day: removed.sums_by_day.replace('}', ',"visits":1,"clicks":2}') }],
    ['/keys/0/scopes/0: must be one of read:', {}, { keys: [{ ...key, scopes: [5] }] }],
    ['/keys/0/view: must be a part', {}, { keys: [{ ...part, view: { ...view, hidden: ['margin'] } }] }],
    ['/keys/0/view: must be a part', {}, { keys: [{ ...part, view: { ...view, filters: { margin: ['a'] } } }] }],
  ])('of a later version is checked as well: %s', (message, texts, merged = {}) =>
    expectRefused(message, { ...later, ...merged }, texts),
  )

  it('of a later version is imported without what this version does not know, which it names', async () => {
    const texts = {
      clicks: '{"id":"c9","clickedAt":"2025-03-01T00:00:00Z","campaignId":"k1","cost":0.5,"deviceModel":"x"}\n',
      campaigns: '{"id":"k1","name":"K1","priority":2}\n',
      sums_by_day: removed.sums_by_day.replace('}', ',"visits":3,"spend":"0.5"}'),
    }
    await write(later, texts)
    const manifest = await manifestOf('hostile')
    manifest.account.id = 'later'
    manifest.keys = [{ ...key, id: 'k-later', hash: 'c'.repeat(64), scopes: ['read:clicks', 'read:visits'] }]
    Object.assign(manifest.files, { visits: anyFile, '../../x': anyFile })
    manifest.retained.files.sums_by_week = anyFile
    manifest.account.region = 'EU'
    await writeFile(folder('hostile', 'account.json'), JSON.stringify(manifest))
    const { code, stdout, stderr } = await runHere(
      ['account', 'import', folder('hostile'), '--json'],
      target.stores.environment,
    )
    const leftOut = ['visits', '../../x', 'sums_by_week', 'read:visits', 'campaigns.priority', 'clicks.deviceModel']
    expect([code, stderr]).toEqual([
      0,
      `Left out what only version 99.1.0 or a later one knows: ${leftOut.join(', ')}.\n`,
    ])
    expect(JSON.parse(stdout)).toMatchObject({ rows: { clicks: 1, campaigns: 1 }, keys: 1, leftOut })
    const { postgres } = target.stores
    expect(await postgres`SELECT scopes FROM api_keys WHERE account_id = 'later'`).toEqual([
      { scopes: ['read:clicks'] },
    ])
    const sums =
      "SELECT toUInt32(sum(clicks)) AS clicks FROM sums_by_day WHERE account_id = 'later' AND dimension = 'campaign'"
    expect(await rowsOf(target.stores, sums)).toEqual([{ clicks: 2 }])
  })

  it('is imported once it is corrected, unless a file is truncated or a key belongs to another account', async () => {
    expect(await fails('missing')).toContain('account.json cannot be read')
    await write()
    await writeFile(folder('hostile', 'campaigns.ndjson.gz'), gzipSync('{"id":"k1","name":"another"}\n'))
    expect(await fails('hostile')).toContain('campaigns.ndjson.gz is not the exported file')
    await writeFile(folder('hostile', 'campaigns.ndjson.gz'), gzipSync(content.campaigns ?? '').subarray(0, -9))
    expect(await fails('hostile')).toMatch(
      /^error: \S+campaigns\.ndjson\.gz is truncated: its gzip data is incomplete\.\n$/,
    )
    await write()
    const longer = await manifestOf('hostile')
    longer.files.campaigns.rows = 1_000
    await write(longer)
    expect(await fails('hostile')).toContain('campaigns.ndjson.gz has 2 rows, but account.json says 1000.')
    const [{ hash } = { hash: '' }] = (await manifestOf('acme')).keys
    await write({ keys: [{ ...key, hash }] })
    expect(await fails('hostile')).toBe('error: 1 keys of account hostile belong to other accounts here.\n')
    expect(await target.stores.postgres`SELECT FROM accounts WHERE id = 'hostile'`).toEqual([])
    await write()
    expect(await succeed(target, 'account', 'import', folder('hostile'))).toMatchObject({
      keys: 1,
      rows: { campaigns: 2 },
    })
  })
})

it.each(['acme', 'moved'])('verify finds nothing in the imported account %s', async (account) => {
  expect((await succeed(target, 'verify', '--account', account)).differences).toEqual([])
})
