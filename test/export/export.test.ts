// @module-tag all

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { runCommand } from '../../src/cli/program.ts'
import { writeFile as writeTarget } from '../../src/export/outputFile.ts'
import { exportRows } from '../../src/export/run.ts'
import type { ResourceName } from '../../src/import/resourceNames.ts'
import { resourceNames } from '../../src/import/resourceNames.ts'
import type { Range } from '../../src/query/timeRange.ts'
import { accepted, send } from '../api/events/send.ts'
import { commandFile, exitOf, expectOneLine, runHere, start } from '../cli/runCommand.ts'
import { rowsOfAccount, storeRows } from '../feed/openFeed.ts'
import { importContent, makeAccount } from '../import/runImport.ts'
import { useTestApp } from '../kit/app.ts'
import { useFolder } from '../kit/fixtures.ts'
import { fullRows } from '../kit/fullRows.ts'
import { randomCasesFactor } from '../kit/randomCases.ts'
import { killQuery, runningQueries, storeLargeClicks } from '../kit/rows.ts'

const source = useTestApp()
const folder = useFolder()

const exporting = (...words: string[]) => runHere(['export', ...words], source.stores.environment)
/** Exports rows as the command does, without opening the stores again. */
async function exported(
  resource: ResourceName,
  accountId: string,
  format: 'ndjson' | 'csv' = 'ndjson',
  range: Partial<Range> = {},
) {
  const query = { accountId, resource, format, currency: 'USD', range }
  return await text(exportRows(source.stores, query, new AbortController().signal))
}
const lines = (ndjson: string) => ndjson.split('\n').filter(Boolean)

/** Amounts with more digits than a double, as text of a file. */
const exact: Partial<Record<ResourceName, string>> = {
  clicks: '{"id":"exact","clickedAt":"2026-01-01T00:00:00Z","cost":999999999999.999999}\n',
  conversions:
    '{"id":"exact","convertedAt":"2026-01-01T00:00:00Z","status":"hold","revenue":-123456789012.000001,"payout":0.1}\n',
  campaigns: '{"id":"exact","name":"Exact","costValue":123456789012.000001}\n',
}

describe('exporting, importing into another account and exporting again gives the same bytes', () => {
  beforeAll(async () => {
    const key = await source.account('acme')
    for (const resource of resourceNames) {
      const content = fullRows[resource].map((row) => `${JSON.stringify(row)}\n`).join('') + (exact[resource] ?? '')
      expect(await importContent(source.stores, 'acme', resource, content)).toMatchObject({ rejects: [] })
    }
    expect(await send(source.app, key, { event_name: 'sent', click_id: 'full', event_id: 'by-api' })).toEqual(accepted)
    for (const id of ['ndjson', 'csv'])
      await createAccount(source.stores.postgres, { id, name: id, plan: 'pro', currency: 'USD' })
  })

  it.each(resourceNames)('%s as NDJSON and CSV, with the value of every field', async (resource) => {
    const first = await exported(resource, 'acme')
    for (const format of ['ndjson', 'csv'] as const) {
      const content = format === 'ndjson' ? first : await exported(resource, 'acme', format)
      const taken = await importContent(source.stores, format, resource, content, { name: `rows.${format}` })
      const count = lines(first).length
      expect(taken).toMatchObject({ read: count, inserted: count, rejects: [] })
      expect(await exported(resource, format)).toBe(first)
      expect(await exported(resource, format, format)).toBe(content)
    }
    const stored = lines(first).map((line) => JSON.parse(line))
    expect(stored).toHaveLength(
      fullRows[resource].length + (exact[resource] ? 1 : 0) + (resource === 'pixel-events' ? 1 : 0),
    )
    for (const row of fullRows[resource]) {
      const given = { ...row }
      if (resource === 'clicks' && row.ip !== undefined) given.ip = row.id === 'late' ? '192.0.2.0' : row.ip
      if (resource === 'conversions' && row.convertedAt)
        given.convertedAt = expect.stringContaining(`${row.convertedAt}`.slice(0, 19))
      const fields = Object.entries(given).map(([name, value]) => [name, expectation(name, value)])
      expect(stored).toContainEqual(expect.objectContaining(Object.fromEntries(fields)))
    }
    if (resource === 'clicks') expect(first).toContain('"cost":999999999999.999999')
    if (resource === 'campaigns') expect(first).toContain('"costValue":123456789012.000001')
  })
})

describe('a row of an API list', () => {
  const accounts = ['json', 'ndjson', 'csv'] as const
  let key: string
  beforeAll(async () => {
    key = await source.account('listed')
    // In the range that the lists below read.
    const at = { clickedAt: '2026-03-29T00:59:59.999Z' }
    const listed = rowsOfAccount('listed', fullRows).map((row) => ('clickedAt' in row ? { ...row, ...at } : row))
    await storeRows(source.stores, listed)
    expect(await send(source.app, key, { event_name: 'sent', click_id: 'full', event_id: 'by-api' })).toEqual(accepted)
    for (const id of accounts)
      await createAccount(source.stores.postgres, { id: `list-${id}`, name: id, plan: 'pro', currency: 'USD' })
  })

  const lists: Record<ResourceName, string> = {
    clicks: '/clicks?from=2026-01-01&to=2026-12-31',
    conversions: '/conversions?from=2026-01-01&to=2026-12-31&include_test_mode=true',
    costs: '/costs?from=2026-01-01&to=2026-12-31',
    'pixel-events': '/events?from=2026-01-01&to=2026-12-31',
    campaigns: '/campaigns?',
    offers: '/offers?',
    'landing-pages': '/landing-pages?',
    'traffic-sources': '/traffic-sources?',
  }

  // The suite imports each resource from one of both formats. The test above imports files of the command in both.
  const numbered = resourceNames.map((resource, index) => [resource, index] as const)
  it.each(numbered)('is imported as it is from JSON, NDJSON and CSV: %s', async (resource, index) => {
    const expected = await exported(resource, 'listed')
    const left = randomCasesFactor > 1 ? undefined : accounts[1 + (index % 2)]
    for (const format of accounts.filter((name) => name !== left)) {
      const response = await source.get(`${lists[resource]}&format=${format}`, key)
      const content = format === 'json' ? response.json().data : response.body
      const name = format === 'csv' ? 'rows.csv' : 'rows.ndjson'
      const count = lines(expected).length
      const taken = await importContent(source.stores, `list-${format}`, resource, content, { name })
      expect(taken).toMatchObject({ read: count, inserted: count, rejects: [] })
      expect(await exported(resource, `list-${format}`)).toBe(expected)
    }
  })
})

function expectation(name: string, value: unknown): unknown {
  if (name === 'subIds' || name === 'properties') return expect.objectContaining(value as object)
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toISOString()
  return value
}

describe('rows', () => {
  it('are limited to the range and the account', async () => {
    const [account, other] = [await makeAccount(source.stores), await makeAccount(source.stores)]
    const [before, first] = ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00Z']
    const [last, after] = ['2026-01-01T23:59:59.999Z', '2026-01-02T00:00:00Z']
    const named = [before, first, last, after].map((at, index) => ({ at, id: `r${index}` }))
    const rowsOf = (rows: { at: string; id: string }[]) => ({
      clicks: rows.map(({ at, id }) => ({ id, clickedAt: at })),
      conversions: rows.map(({ at, id }) => ({ id, convertedAt: at, status: 'approved' })),
      costs: rows.map(({ at, id }) => ({ id, spentAt: at, updatedAt: at, cost: 1 })),
      'pixel-events': rows.map(({ at, id }) => ({ id, eventName: 'e', clickId: 'c', receivedAt: at })),
      offers: rows.map(({ at, id }) => ({ id, name: id, createdAt: at })),
    })
    const theirs = rowsOf([{ at: '2026-01-01T12:00:00Z', id: 'theirs' }])
    await storeRows(source.stores, [...rowsOfAccount(account, rowsOf(named)), ...rowsOfAccount(other, theirs)])
    for (const resource of Object.keys(theirs) as ResourceName[]) {
      const ids = async (range: Partial<Range>) =>
        lines(await exported(resource, account, 'ndjson', range)).map((line) => JSON.parse(line).id)
      const [fromMs, untilMs] = [Date.parse(first), Date.parse(after)]
      expect(await ids({})).toEqual(['r0', 'r1', 'r2', 'r3'])
      expect(await ids({ fromMs, untilMs })).toEqual(['r1', 'r2'])
      expect(await ids({ fromMs: untilMs - 1_000 })).toEqual(['r2', 'r3'])
      expect(await ids({ untilMs: fromMs })).toEqual(['r0'])
      const allTime = { fromMs: Date.parse('0000-01-01'), untilMs: Date.parse('9999-12-31') + 86_400_000 }
      expect(await ids(allTime)).toEqual(['r0', 'r1', 'r2', 'r3'])
    }
    const day = ['--from', '2026-01-01', '--to', '2026-01-01']
    const { stdout } = await exporting('clicks', '--account', account, ...day)
    expect(lines(stdout).map((line) => JSON.parse(line).id)).toEqual(['r1', 'r2'])
    expect(lines(await exported('campaigns', account, 'csv'))).toHaveLength(1)
  })
})

describe('a file', () => {
  const offers = ['offers', '--account', 'acme'] as const

  it('has the format of its extension, and its rows and bytes are reported', async () => {
    const plain = await exported('offers', 'acme')
    const csv = await exported('offers', 'acme', 'csv')
    const contents = { 'a.ndjson': plain, 'a.csv': csv, 'a.ndjson.gz': plain, 'a.csv.gz': csv }
    for (const [name, content] of Object.entries(contents)) {
      const path = folder(name)
      expect(await exporting(...offers, '--output', path)).toMatchObject({
        code: 0,
        stdout: `2 rows written to ${path}.\n`,
      })
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      const bytes = await readFile(path)
      expect((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()).toBe(content)
    }
    const json = await exporting(...offers, '--output', folder('b.csv'), '--json')
    expect(JSON.parse(json.stdout)).toEqual({ rows: 2, bytes: Buffer.byteLength(csv) })
  })

  it('that already exists or cannot be created is an error, and nothing is written', async () => {
    const there = folder('there.ndjson')
    await writeFile(there, 'mine')
    expectOneLine(await exporting(...offers, '--output', there), 1, /already exists/)
    expect(await readFile(there, 'utf8')).toBe('mine')
    expectOneLine(await exporting(...offers, '--output', folder('none', 'a.csv')), 1, /can't be written/)
  })

  it('does not disturb a concurrent export to the same folder', async () => {
    const path = folder('two.ndjson')
    const others = `${path}.${process.pid}.part`
    await writeFile(others, 'theirs')
    expect((await exporting(...offers, '--output', path)).code).toBe(0)
    expect(await readFile(others, 'utf8')).toBe('theirs')
  })

  it('appears only when it is complete', async () => {
    const path = folder('cut.ndjson')
    let meanwhile: string[] = []
    async function* cut() {
      yield Buffer.from('{"id":"1"}\n')
      meanwhile = await readdir(folder())
      throw new Error('cut')
    }
    const { signal } = new AbortController()
    await expect(writeTarget(path, cut(), { isGzipped: false, signal })).rejects.toThrow(/^cut$/)
    expect(meanwhile.filter((name) => name.includes('cut'))).toHaveLength(1)
    expect(meanwhile).not.toContain('cut.ndjson')
    expect((await readdir(folder())).filter((name) => name.startsWith('cut'))).toEqual([])
  })
})

it.each([
  [['clickz', '--account', 'acme'], 2, /'clickz' is invalid for argument 'resource'\. Allowed choices are campaigns,/],
  [['clicks'], 2, /--account/],
  [['clicks', '--account', 'missing'], 1, /no such account: missing/],
  [['clicks', '--account', 'acme', '--from', 'soon'], 2, /from is not a valid date or time/],
  [['clicks', '--account', 'acme', '--from', '2026-02-02', '--to', '2026-01-01'], 2, /is not before the end/],
  [['clicks', '--account', 'acme', '--format', 'xml'], 2, /ndjson, csv/],
  [['clicks', '--account', 'acme', '--output', 'a.tsv'], 2, /must end in \.ndjson/],
  [['clicks', '--account', 'acme', '--output', 'a.csv', '--format', 'ndjson'], 2, /contradicts --format ndjson/],
  [['clicks', '--account', 'acme', '--json'], 2, /--json requires --output/],
])('invalid arguments fail with one line: %j', async (words, code, line) => {
  expectOneLine(await exporting(...words), code, line)
})

describe('an interrupted export', () => {
  // More than two blocks: one server reads blocks of 1 MB; the receiving node of a cluster merges the rows of all nodes into
  // blocks of 65,409 rows.
  const { clicks, referrerBytes, bytesPerRead } = inject('engines').clusterEnvironment.CLICKHOUSE_CLUSTER
    ? { clicks: 150_000, referrerBytes: 200, bytesPerRead: 65_536 }
    : { clicks: 10_000, referrerBytes: 4_000, bytesPerRead: 8_192 }
  beforeAll(async () => {
    await createAccount(source.stores.postgres, { id: 'large', name: 'large', plan: 'scale', currency: 'USD' })
    await storeLargeClicks(source.stores, 'large', clicks, referrerBytes)
  })
  const running = () => runningQueries(source.stores, 'export.clicks')

  it('fails when the database ends its query', async () => {
    const [stdout, errors] = [new PassThrough(), new PassThrough()]
    const { environment } = source.stores
    const ended = runCommand(['export', 'clicks', '--account', 'large'], { environment, stdout, stderr: errors })
    await once(stdout, 'readable')
    const [query] = await running()
    const linesOf = (chunk: Buffer | string | null) => `${chunk ?? ''}`.split('\n').length - 1
    let lines = 0
    await killQuery(source.stores, query?.queryId ?? '', () => {
      lines += linesOf(stdout.read(bytesPerRead))
    })
    const closed = ended.finally(() => {
      stdout.end()
      errors.end()
    })
    const [rest, stderr, code] = await Promise.all([text(stdout), text(errors), closed])
    expect([code, stderr]).toEqual([1, 'error: a database is unavailable. The output is incomplete.\n'])
    expect(lines + linesOf(rest)).toBeLessThan(clicks)
    expect(rest).not.toContain('xception')
  })

  it('fails in one line when the disk is full', async () => {
    const full = await open('/dev/full', 'w')
    const words = [commandFile, 'export', 'clicks', '--account', 'large']
    const child = spawn(process.execPath, words, {
      env: { PATH: process.env.PATH, ...source.stores.environment },
      stdio: ['ignore', full.fd, 'pipe'],
    })
    const [[code], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr as Readable), full.close()])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*ENOSPC.*\n$/)])
  })

  it('ends its query when its reader disconnects', async () => {
    const child = start(['export', 'clicks', '--account', 'large'], source.stores.environment)
    await new Promise((resolve) => child.stdout.once('readable', resolve))
    expect(await running()).toHaveLength(1)
    child.stdout.destroy()
    const [stderr, code] = await Promise.all([text(child.stderr), exitOf(child)])
    expect([code, stderr]).toEqual([0, ''])
    await expect.poll(running, { timeout: 20_000 }).toEqual([])
  })
})
