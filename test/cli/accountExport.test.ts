// @module-tag postgres

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setRetention } from '../../src/accounts/retention.ts'
import { removeOldMonths } from '../../src/cli/retentionJob.ts'
import { RetainedOtherwise, storeRemovedSums } from '../../src/writer/retention/removedSums.ts'
import { importContent } from '../import/runImport.ts'
import { openTestApp, type TestApp } from '../kit/app.ts'
import { storeEvents } from '../kit/rows.ts'
import { importRetained, removalMs, rows, withWriter } from '../writer/retention/retainedAccount.ts'
import { runHere, start } from './runCommand.ts'

let source: TestApp
let target: TestApp
let key: string
let folder: string

beforeAll(async () => {
  ;[source, target] = await Promise.all([openTestApp(), openTestApp()])
  folder = await mkdtemp(join(tmpdir(), 'tributary-account-'))
  key = await source.account('acme', { currency: 'EUR' })
  for (const { setNow } of [source, target]) setNow(Date.now())
  await succeed(source, 'demo', '--account', 'acme', '--clicks', '600', '--days', '4')
  await succeed(source, 'account', 'export', '--account', 'acme', '--output', join(folder, 'acme'))
})
afterAll(async () => {
  await Promise.all([source?.close(), target?.close()])
  await rm(folder, { recursive: true, force: true })
})

async function succeed({ stores }: TestApp, ...words: string[]) {
  const { code, stdout, stderr } = await runHere([...words, '--json'], stores.environment)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

const manifestOf = async (name: string) => JSON.parse(await readFile(join(folder, name, 'account.json'), 'utf8'))

/** A response without the times of storage, which each installation sets. */
async function bodyOf(app: TestApp, path: string, withKey = key): Promise<unknown> {
  const response = await app.get(path, withKey)
  expect([path, response.statusCode]).toEqual([path, 200])
  return JSON.parse(response.body, (name, value) => (name === 'storedAt' || name === 'asOf' ? undefined : value))
}

/** Makes imports wait for the database before their first conversion, until the trigger is dropped. */
async function failConversions(): Promise<void> {
  target.stores.markDirty()
  await target.stores.postgres`
    CREATE OR REPLACE FUNCTION fail_batch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'unavailable' USING ERRCODE = '57P01';
    END $$`
  await target.stores.postgres`
    CREATE TRIGGER import_batches_fail BEFORE INSERT ON import_batches
    FOR EACH ROW WHEN (NEW.resource = 'conversions') EXECUTE FUNCTION fail_batch()`
}

describe('an exported account', () => {
  it('is a folder for its owner only, with a file per resource, without secrets', async () => {
    const resources = [
      'campaigns',
      'clicks',
      'conversions',
      'landing-pages',
      'offers',
      'pixel-events',
      'traffic-sources',
    ]
    const names = ['account.json', ...resources.map((name) => `${name}.ndjson.gz`)]
    expect((await readdir(join(folder, 'acme'))).sort()).toEqual(names)
    expect((await stat(join(folder, 'acme'))).mode & 0o777).toBe(0o700)
    expect(await readFile(join(folder, 'acme', 'account.json'), 'utf8')).not.toContain(key)
    expect(await readdir(folder)).toEqual(['acme'])
  })

  it('gives equal reports and lists to the same key after an import that was killed', async () => {
    const { environment, postgres } = target.stores
    await failConversions()
    const child = start(['account', 'import', join(folder, 'acme')], environment)
    const ended = once(child, 'exit')
    let printed = ''
    child.stderr.on('data', (chunk) => {
      printed += chunk
    })
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('while recording a batch in the journal; retrying')
    child.kill('SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
    await postgres`DROP TRIGGER import_batches_fail ON import_batches`
    expect(await postgres`SELECT 1 FROM api_keys WHERE account_id = 'acme'`).toEqual([])
    await postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = 'writer:acme'`
    await succeed(target, 'account', 'import', join(folder, 'acme'))
    for (const path of [
      '/reports?group_by=campaign&days=30',
      '/reports?group_by=country&days=30',
      '/stats/daily?days=30&tz=Asia/Kolkata',
      '/stats/overview?days=30',
      '/clicks?limit=200',
      '/conversions?limit=200',
      '/campaigns?limit=200',
      '/offers?limit=200',
      '/landing-pages?limit=200',
      '/traffic-sources?limit=200',
    ]) {
      expect(await bodyOf(target, path)).toEqual(await bodyOf(source, path))
    }
    expect((await succeed(target, 'verify')).differences).toEqual([])
  })

  it('is exported again with equal hashes, keys and attributes', async () => {
    await succeed(target, 'account', 'export', '--account', 'acme', '--output', join(folder, 'again'))
    const [before, after] = await Promise.all(['acme', 'again'].map(manifestOf))
    expect(after.files).toEqual(before.files)
    expect(after.account).toEqual(before.account)
    const withoutUse = ({ keys }: { keys: object[] }) => keys.map((one) => ({ ...one, lastUsedAt: null }))
    expect(withoutUse(after)).toEqual(withoutUse(before))
    expect(Object.values<{ rows: number }>(before.files).every(({ rows }) => rows > 0)).toBe(true)
  })

  it('does not replace an existing folder, but the rest of an interrupted export', async () => {
    const output = join(folder, 'acme')
    const { code, stderr } = await runHere(
      ['account', 'export', '--account', 'acme', '--output', output],
      source.stores.environment,
    )
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: \S+ already exists; [^\n]+\n$/)])
    await mkdir(join(folder, 'third.incomplete'))
    for (const name of ['clicks.ndjson.gz', 'unknown']) await writeFile(join(folder, 'third.incomplete', name), 'old')
    await succeed(source, 'account', 'export', '--account', 'acme', '--output', join(folder, 'third'))
    expect((await manifestOf('third')).files).toEqual((await manifestOf('acme')).files)
    expect(await readdir(folder)).not.toContain('third.incomplete')
    expect(await readdir(join(folder, 'third'))).toEqual(await readdir(join(folder, 'acme')))
  })

  it('is not imported over another account, from a changed file or without a manifest', async () => {
    const fails = async (name: string) => {
      const { code, stdout, stderr } = await runHere(
        ['account', 'import', join(folder, name)],
        target.stores.environment,
      )
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^error: [^\n]+\n$/)
      return stderr
    }
    const manifest = await manifestOf('again')
    const other = { ...manifest, account: { ...manifest.account, createdAt: '2020-01-01T00:00:00.000Z' } }
    await writeFile(join(folder, 'again', 'account.json'), JSON.stringify(other))
    expect(await fails('again')).toContain('account acme already exists')
    await target.stores.postgres`UPDATE campaigns SET status = 'paused' WHERE account_id = 'acme'`
    expect(await fails('acme')).toContain('account acme already exists, and no import of this folder was interrupted')
    expect(await target.stores.postgres`SELECT DISTINCT status FROM campaigns WHERE account_id = 'acme'`).toEqual([
      { status: 'paused' },
    ])
    await writeFile(join(folder, 'again', 'account.json'), JSON.stringify({ ...manifest, format: 2 }))
    expect(await fails('again')).toContain('is no account of this version: /format')
    await writeFile(join(folder, 'again', 'account.json'), JSON.stringify(manifest))
    await writeFile(
      join(folder, 'again', 'offers.ndjson.gz'),
      await readFile(join(folder, 'acme', 'campaigns.ndjson.gz')),
    )
    expect(await fails('again')).toContain('offers.ndjson.gz is not the exported file')
    const rejected = { ...manifest, account: { ...manifest.account, id: 'rejected' } }
    const offers = '{"id":"o"}\n'
    await writeFile(join(folder, 'again', 'offers.ndjson.gz'), gzipSync(offers))
    const sha256 = createHash('sha256').update(offers).digest('hex')
    rejected.files = { ...manifest.files, offers: { rows: 1, sha256 } }
    await writeFile(join(folder, 'again', 'account.json'), JSON.stringify(rejected))
    expect(await fails('again')).toMatch(/offers\.ndjson\.gz cannot be imported: line 1: name: is required\.\n$/)
    const longer = { ...manifest, account: { ...manifest.account, id: 'longer' } }
    longer.files = { ...manifest.files, campaigns: { ...manifest.files.campaigns, rows: 1_000 } }
    await writeFile(join(folder, 'again', 'offers.ndjson.gz'), await readFile(join(folder, 'acme', 'offers.ndjson.gz')))
    await writeFile(join(folder, 'again', 'account.json'), JSON.stringify(longer))
    expect(await fails('again')).toMatch(/campaigns\.ndjson\.gz has \d+ rows, but account\.json says 1000\.\n$/)
    expect(await fails('missing')).toContain('account.json cannot be read')
    for (const text of ['['.repeat(2 ** 24), `{"keys":[${'{},'.repeat(2 ** 24)}{}]}`]) {
      await writeFile(join(folder, 'again', 'account.json'), text)
      expect(await fails('again')).toMatch(
        /account\.json cannot be read: it has more values than an exported account\.\n$/,
      )
    }
  })
})

describe('an account with removed months', () => {
  it('has the same numbers and rows after an import that was interrupted, and its months remain removed', {
    tags: 'long',
  }, async () => {
    const agedKey = await source.account('aged')
    await importRetained(source.stores, 'aged')
    await setRetention(source.stores.postgres, 'aged', { clickMonths: 2, eventMonths: 1 })
    await withWriter(source.stores, 'aged', (writer) => removeOldMonths(writer, removalMs, 0))
    const restored = { id: 'restored', visitor_id: 'v1', occurred_at: '2025-02-27 10:00:00.000' }
    await storeEvents(source.stores, 'aged', [restored])
    await succeed(source, 'account', 'export', '--account', 'aged', '--output', join(folder, 'aged'))
    await failRecords()
    const { environment, postgres } = target.stores
    const child = start(['account', 'import', join(folder, 'aged')], environment)
    let printed = ''
    child.stderr.on('data', (chunk) => {
      printed += chunk
    })
    await expect
      .poll(() => printed, { timeout: 60_000 })
      .toContain('while recording which months were removed; retrying')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await postgres`DROP TRIGGER retained_ranges_fail ON retained_ranges`
    await postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = 'writer:aged'`
    const later = await withWriter(target.stores, 'aged', (writer) => removeOldMonths(writer, Date.UTC(2026, 0, 1), 0))
    expect(later).toBeUndefined()
    const imported = await runHere(['account', 'import', join(folder, 'aged'), '--json'], environment)
    expect([imported.code, JSON.parse(imported.stdout)]).toMatchObject([
      0,
      { rows: { 'pixel-events': 1 }, rejected: { 'pixel-events': 1 } },
    ])
    expect(imported.stderr).toContain('1 × occurredAt: is before 2025-03-01; the account has removed earlier rows')
    const range = 'from=2025-01-01&to=2025-03-31'
    for (const path of [
      ...['campaign', 'country', 'offer', 'day'].map((by) => `/reports?group_by=${by}&${range}`),
      `/reports?group_by=country&campaign_id=k2&${range}`,
      `/stats/daily?${range}&tz=Asia/Kathmandu`,
      ...['/clicks', '/conversions', '/events'],
    ]) {
      expect(await bodyOf(target, path, agedKey)).toEqual(await bodyOf(source, path, agedKey))
    }
    expect((await succeed(target, 'verify')).differences).toEqual([])
    const again = await importContent(target.stores, 'aged', 'clicks', rows.clicks)
    expect(again).toMatchObject({ inserted: 0, duplicates: 2, rejected: 4 })
    await succeed(target, 'account', 'export', '--account', 'aged', '--output', join(folder, 'aged-again'))
    const { retained } = await manifestOf('aged')
    expect(retained).toMatchObject({ clickMonths: 2, eventMonths: 1 })
    expect((await manifestOf('aged-again')).retained).toEqual(retained)
    const other = { clicksMs: Date.UTC(2025, 0, 1), eventsMs: 0 }
    const none = (): AsyncIterable<Buffer> => Readable.from([])
    await expect(withWriter(target.stores, 'aged', (writer) => storeRemovedSums(writer, other, none))).rejects.toThrow(
      RetainedOtherwise,
    )
  })

  /** Makes imports wait for the database after the sums of removed clicks are stored, until the trigger is dropped. */
  async function failRecords(): Promise<void> {
    target.stores.markDirty()
    await target.stores.postgres`
      CREATE OR REPLACE FUNCTION fail_batch() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'unavailable' USING ERRCODE = '57P01';
      END $$`
    await target.stores.postgres`
      CREATE TRIGGER retained_ranges_fail BEFORE INSERT ON retained_ranges FOR EACH ROW EXECUTE FUNCTION fail_batch()`
  }
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
  const removed: Record<string, string> = {
    sums_by_day: '{"dimension":"campaign","day":"2025-01-10","value":"a\\"b","clicks":1,"cost":"0.25"}\n',
    sums_by_day_and_campaign:
      '{"dimension":"country","campaign_id":"k1","day":"2025-01-10","value":"FR","clicks":1,"cost":"0.25"}\n',
    sums_by_quarter_hour: '{"bucket":"2025-01-10 10:15:00","campaign_id":"k1","clicks":1,"cost":"0.25"}\n',
    click_index: '{"id":"c1","clicked_at":"2025-01-10 10:20:00.000","campaign_id":"k1"}\n',
  }
  const content: Record<string, string> = {
    ...{ campaigns: '{"id":"k1","name":"K1"}\n{"id":"k2","name":"K2"}\n', offers: '', 'landing-pages': '' },
    ...{ 'traffic-sources': '', clicks: '', conversions: '', 'pixel-events': '' },
    ...removed,
  }

  /** Writes a folder with files of these contents. @param merged values of the manifest, or its text */
  async function write(merged: object | string = {}, texts: Record<string, string> = {}): Promise<void> {
    const all = Object.entries({ ...content, ...texts }).map(([name, text]) => {
      const rows = text.split('\n').length - 1
      return [name, { rows, sha256: createHash('sha256').update(text).digest('hex') }, gzipSync(text)] as const
    })
    await mkdir(join(folder, 'hostile'), { recursive: true })
    for (const [name, , bytes] of all) await writeFile(join(folder, 'hostile', `${name}.ndjson.gz`), bytes)
    const files = (isOfRemoved: boolean) => Object.fromEntries(all.filter(([name]) => name in removed === isOfRemoved))
    const manifest = {
      format: 1,
      account: { id: 'hostile', name: 'Hostile', plan: 'pro', currency: 'EUR', createdAt: key.createdAt },
      keys: [key],
      erasures: [],
      retained: {
        ...{ clickMonths: null, eventMonths: null, clicksFrom: '2025-02-01T00:00:00.000Z', eventsFrom: null },
        files: files(true),
      },
      files: files(false),
    }
    const text = typeof merged === 'string' ? merged : JSON.stringify({ ...manifest, ...merged })
    await writeFile(join(folder, 'hostile', 'account.json'), text)
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
  it.each<[string, object | string, Record<string, string>?]>([
    ['account.json is no account of this version: /account/name:', { account: { ...account, name: 'a\0b' } }],
    ['account.json is no account of this version: /account/plan:', { account: { ...account, plan: 'pro\0' } }],
    ['no such plan: invented', { account: { ...account, plan: 'invented' } }],
    ['/account/createdAt:', { account: { ...account, createdAt: '+275760-09-13T00:00:00.000Z' } }],
    ['/account/id:', { account: { ...account, id: '../acme' } }],
    ['/account:', { account: 5 }],
    ['/keys:', { keys: {} }],
    ['/keys/0/name:', { keys: [{ ...key, name: '\ud800' }] }],
    ['/keys/0/hash:', { keys: [{ ...key, hash: 'a' }] }],
    ['/keys/0/prefix:', { keys: [{ ...key, prefix: 'trb_live_\0abc' }] }],
    ['/keys/0/scopes/0: must be one of read:', { keys: [{ ...key, scopes: ['read:everything'] }] }],
    ['/keys/0/replacedBy: is not the id of one of its keys', { keys: [{ ...key, replacedBy: 'of-another-account' }] }],
    ['/keys: two have the same id', { keys: [key, { ...key, hash: 'b'.repeat(64) }] }],
    ['/keys: two have the same hash', { keys: [key, { ...key, id: 'k-2' }] }],
    ['/erasures/0/key: must be a UUID', { erasures: [erasure] }],
    ['/retained/clicksFrom:', { retained: { ...retained, clicksFrom: '2025-01-15T00:00:00.000Z' } }],
    ['/retained/files: must have sums_by_day', { retained: { ...retained, clicksFrom: '2025-01-01T00:00:00.000Z' } }],
    ['/retained/files: must have no files', { retained: { ...retained, files: { '../../clicks': anyFile } } }],
    ['/files/..~1..~1x: Unexpected property', { files: { ...noRows, '../../x': anyFile } }],
    ['/files/clicks:', { files: {} }],
    ['account.json is no account of this version: /:', '[]'],
    ['account.json cannot be read:', '{"format":1,"account":{"id":"hos'],
    [
      'campaigns.ndjson.gz cannot be imported: line 2: name: must not contain',
      {},
      { campaigns: '{"id":"k1","name":"K"}\n{"id":"k","name":"\\u0000"}\n' },
    ],
    [
      'campaigns.ndjson.gz cannot be imported: line 1: is longer',
      {},
      { campaigns: `{"id":"${'k'.repeat(2 << 20)}"}\n` },
    ],
    ['campaigns.ndjson.gz cannot be read: it is a JSON array', {}, { campaigns: '[]\n' }],
    [
      'clicks.ndjson.gz cannot be imported: line 1: id: must be',
      {},
      { clicks: '{"id":"../../c","clickedAt":"2025-03-01T00:00:00Z"}\n' },
    ],
    ['conversions.ndjson.gz cannot be imported: line 1: is not JSON', {}, { conversions: '{"id":"v1","conve' }],
    ['pixel-events.ndjson.gz cannot be imported: line 1: is not a JSON object', {}, { 'pixel-events': '5\n' }],
    [
      'sums_by_day.ndjson.gz cannot be imported: line 1: 2025-02-01 is not in a removed month',
      {},
      { sums_by_day: removed.sums_by_day?.replace('01-10', '02-01') ?? '' },
    ],
    [
      'sums_by_day.ndjson.gz cannot be imported: line 1: is not a row of sums_by_day',
      {},
      { sums_by_day: removed.sums_by_day?.replace('0.25', 'x') ?? '' },
    ],
    [
      'click_index.ndjson.gz cannot be imported: line 1: is not a row of click_index',
      {},
      { click_index: `{"id":"${'\\"'.repeat(400_000)}"}\n` },
    ],
  ])('ends the import before anything is stored: %s', async (message, merged, texts) => {
    await write(merged, texts)
    const { code, stdout, stderr } = await runHere(
      ['account', 'import', join(folder, 'hostile')],
      target.stores.environment,
    )
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: [^\n]+\.\n$/)
    expect(stderr).toContain(message)
    expect(await target.stores.postgres`SELECT FROM accounts WHERE id = 'hostile'`).toEqual([])
  })

  it('is imported once it is corrected, unless a file is truncated or a key belongs to another account', async () => {
    const fails = async () =>
      (await runHere(['account', 'import', join(folder, 'hostile')], target.stores.environment)).stderr
    await write()
    await writeFile(join(folder, 'hostile', 'campaigns.ndjson.gz'), gzipSync(content.campaigns ?? '').subarray(0, -9))
    expect(await fails()).toMatch(/^error: \S+campaigns\.ndjson\.gz cannot be read: unexpected end of file\.\n$/)
    const [{ hash } = { hash: '' }] = (await manifestOf('acme')).keys
    await write({ keys: [{ ...key, hash }] })
    expect(await fails()).toBe('error: 1 keys of account hostile belong to other accounts here.\n')
    expect(await target.stores.postgres`SELECT FROM accounts WHERE id = 'hostile'`).toEqual([])
    await write()
    expect(await succeed(target, 'account', 'import', join(folder, 'hostile'))).toMatchObject({
      keys: 1,
      rows: { campaigns: 2 },
    })
    expect((await succeed(target, 'verify', '--account', 'hostile')).differences).toEqual([])
  })
})
