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
    expect(await fails('again')).toContain('is not of this version: /format')
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
    const { code, stderr } = await runHere(['account', 'import', join(folder, 'again')], target.stores.environment)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /name: is required(?:.|\n)*\nerror: [^\n]*offers\.ndjson\.gz cannot be imported: a row was rejected\.\n$/,
    )
    const longer = { ...manifest, account: { ...manifest.account, id: 'longer' } }
    longer.files = { ...manifest.files, campaigns: { ...manifest.files.campaigns, rows: 1_000 } }
    await writeFile(join(folder, 'again', 'offers.ndjson.gz'), await readFile(join(folder, 'acme', 'offers.ndjson.gz')))
    await writeFile(join(folder, 'again', 'account.json'), JSON.stringify(longer))
    expect(await fails('again')).toMatch(/campaigns\.ndjson\.gz has \d+ rows, but account\.json says 1000\.\n$/)
    expect(await fails('missing')).toContain('account.json cannot be read')
  })
})

describe('an account with removed months', () => {
  it('has the same numbers and rows after an import that was interrupted, and its months remain removed', async () => {
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
