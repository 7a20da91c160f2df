// @module-tag all

import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { onlyParquet } from '../../../src/packages/sync/files/download.ts'
import { run } from '../../../src/packages/sync/program.ts'
import { changing } from '../../../src/packages/sync/source/resources.ts'
import { openCopyTarget } from '../../kit/copyTarget.ts'
import { useOpened, useTestStores } from '../../kit/fixtures.ts'
import { openHttpServer } from '../../kit/httpServer.ts'
import { runProgram } from '../runProgram.ts'
import { queryDuckdb } from './queryDuckdb.ts'

const at = '2026-11-20T10:00:00.000Z'
const click = {
  id: 'c1',
  clickedAt: at,
  storedAt: at,
  isBot: false,
  isTest: false,
  subIds: { sub1: 's' },
  costBase: 1,
}
const hash = createHash('md5').update(`c1|${at}|${at}`).digest('hex').slice(0, 15)

const parquetFile = Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'id', data: ['c1'] }] }))

const sound = () => ({
  key: { accountId: 'acme' } as object,
  checksums: { asOf: '2026-11-21T00:00:00.000Z', data: [{ day: '2026-11-20', rows: 1, costBase: 1, hash }] } as object,
  page: { data: [click], nextCursor: null } as object,
  lines: [{ ...click, cursor: 'x1' }] as unknown[],
  asOf: '2026-11-21T00:00:00.000Z',
  parquet: parquetFile as string | Buffer,
})
let responses = sound()
let place: string
let copy: string
let errors: string
let environment: Record<string, string> = {}

const server = useOpened(() =>
  openHttpServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const { key, checksums, page, lines, asOf, parquet } = responses
    const format = searchParams.get('format')
    const isDayWithoutRows = searchParams.get('from') === '2000-01-01'
    if (pathname.endsWith('/key')) response.writeHead('error' in key ? 400 : 200).end(JSON.stringify(key))
    else if (pathname.includes('/checksums/'))
      response.end(JSON.stringify(isDayWithoutRows ? { ...checksums, data: [] } : checksums))
    else if (format === 'parquet') response.setHeader('x-as-of', asOf).end(parquet)
    else if (format === null) response.end(JSON.stringify(page))
    else {
      response.setHeader('x-as-of', asOf)
      response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    }
  }),
)
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'tributary-hostile-'))
  copy = join(place, 'deep/er/copy')
  await mkdir(join(place, 'outside'), { recursive: true })
  await writeFile(join(place, 'outside/part.parquet'), 'mine')
  responses = sound()
})
afterEach(() => rm(place, { recursive: true, force: true }))

async function sync(target: string, ...more: string[]): Promise<number | null> {
  const words = [target, '--url', server.url, '--resources', 'clicks', '--verify', ...more]
  const { code, stderr } = await runProgram(run, words, { TRIBUTARY_KEY: 'key', ...environment })
  errors = stderr
  return code
}

async function failing(target: string): Promise<string> {
  expect(await sync(target)).toBe(1)
  return errors
}

async function expectOutsideUnchanged(): Promise<void> {
  expect((await readdir(place)).filter((name) => name !== 'deep')).toEqual(['outside'])
  expect(await readdir(join(place, 'outside'))).toEqual(['part.parquet'])
  expect(await readFile(join(place, 'outside/part.parquet'), 'utf8')).toBe('mine')
  expect(await readdir(join(place, 'deep/er'))).toEqual(['copy'])
}

const firstDay = { day: '2026-11-20', rows: 1, costBase: 1, hash }
const row = (more: object) => ({ lines: [{ ...click, cursor: 'x1', ...more }] })
const days = (...data: unknown[]) => ({ checksums: { ...sound().checksums, data } })
const ofDay = (field: string, values: unknown[]): Case[] =>
  values.map((value) => [field, days({ ...firstDay, [field]: value })])

/** The field that the message names, and the responses that differ from sound ones. */
type Case = [string, Partial<ReturnType<typeof sound>>]
const ofBoth: Case[] = [
  ...ofDay('day', ['2026-11-20/../../../../outside', '../../outside', '2026-02-30', '2026-11-21', '2025-01-01', '']),
  ...ofDay('day', [20, null, {}]),
  ['data', { checksums: { asOf: at, data: {} } }],
  ['data', days(null)],
  ['data', { page: { data: 'x' } }],
  ['day', days(firstDay, firstDay)],
  ...ofDay('rows', ['1', -1, 1.5, null]),
  ...ofDay('hash', ['', 'G'.repeat(15), 7, `${hash}\n`]),
  ...ofDay('costBase', ['1; DROP']),
  ...['yesterday', 'infinity', 9, '2026-11-20T24:00:00Z'].map(
    (asOf): Case => ['asOf', { checksums: { asOf, data: [] } }],
  ),
  ...['../x', null].map((from): Case => ['retainedFrom', { checksums: { ...sound().checksums, retainedFrom: from } }]),
  ['clickedAt', { page: { data: [{ ...click, clickedAt: '+275760-09-13T00:00:00Z' }] } }],
  ['clickedAt', { page: { data: [{ id: 'c1' }] } }],
  ['accountId', { key: { accountId: '\u001b[2J' } }],
  ['accountId', { key: {} }],
]

describe('tributary-sync into a folder', () => {
  it('refuses a response that is not valid in one line, and changes no other folder', async () => {
    for (const [field, changed] of ofBoth) {
      responses = { ...sound(), ...changed }
      expect([field, await sync(copy)]).toEqual([field, 1])
      expect(errors).toMatch(new RegExp(`^error: the response of \\S+ is not valid: ${field}[^\\n]* is [^\\n]*\\n$`))
      await expectOutsideUnchanged()
      expect(await readdir(join(copy, 'clicks')).catch(() => [])).toEqual([])
    }
    responses = { ...sound(), page: { data: [{ ...click, '../x': 1 }] } }
    expect(await failing(copy)).toContain('the name of a field is "../x"')
    responses = sound()
    expect(await sync(copy)).toBe(0)
    expect(await readdir(join(copy, 'clicks/day=2026-11-20'))).toEqual(['part.parquet'])
  })

  it('keeps the file of a day when the new one is not Parquet', async () => {
    expect(await sync(copy)).toBe(0)
    const changed = { asOf: at, data: [{ ...firstDay, hash: 'f'.repeat(15) }] }
    const cut = parquetFile.subarray(0, -1)
    for (const parquet of ['', 'PAR1', 'PAR1PAR1', 'PAR1\0\0\0\0PAR1', '<html>busy</html>', cut, `x${parquetFile}`]) {
      responses = { ...sound(), checksums: changed, parquet }
      expect([parquet, await sync(copy)]).toEqual([parquet, 1])
      expect(errors).toMatch(
        /^error: the (response of \/clicks is not valid: the beginning (and end )?of the file is|export of \/clicks of 2026-11-20 has no valid footer\.)[^\n]*\n$/,
      )
      expect(await readdir(join(copy, 'clicks/day=2026-11-20'))).toEqual(['part.parquet'])
      expect(await readFile(join(copy, 'clicks/day=2026-11-20/part.parquet'))).toEqual(parquetFile)
    }
    responses = { ...sound(), checksums: changed }
    expect(await sync(copy)).toBe(0)
    // A state of an earlier version, which did not count the rows of files: --verify reads the day again.
    const state = join(copy, 'clicks/.tributary-sync.json')
    await writeFile(state, (await readFile(state, 'utf8')).replace(',"isCounted":true', ''))
    const again = Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'id', data: ['c1', 'c2'] }] }))
    responses = { ...responses, parquet: again }
    expect(await sync(copy)).toBe(0)
    expect(await readFile(join(copy, 'clicks/day=2026-11-20/part.parquet'))).toEqual(again)
  })

  it('reads no more of a body after its first bytes show that it is not Parquet, or after 5 GB', async () => {
    const part = Buffer.alloc(50_000_000, 'PAR1')
    for (const [start, partsMax, reason] of [
      ['<ht', 0, 'the beginning of the file is "<ht"'],
      ['PAR', 1, 'the beginning of the file is "PAR<"'],
      ['PAR1', 100, 'the file of /clicks is larger than 5 GB'],
    ] as const) {
      let parts = 0
      async function* endless() {
        for (yield Buffer.from(start); ; parts += 1) yield start === 'PAR' ? Buffer.from('<html>') : part
      }
      const reading = async () => {
        for await (const _ of onlyParquet('/clicks', endless()));
      }
      await expect(reading()).rejects.toThrow(reason)
      expect(parts).toBeLessThanOrEqual(partsMax)
    }
  })

  it('refuses a state that another program has changed', async () => {
    expect(await sync(copy)).toBe(0)
    const file = { ...firstDay, amount: '1', fields: 'x', digest: 'x' }
    const states: [string, unknown[]][] = [
      [
        'clicks/.tributary-sync.json',
        [
          { fields: [], days: [{ ...file, day: '2026-11-20/../../../../../outside' }] },
          [{ ...file, day: '../../outside' }],
          { fields: ['\u001b'], days: [] },
          { days: [] },
          null,
          7,
          [null],
          [{ ...file, hash: 1 }],
          [{ ...file, rows: '1' }],
        ],
      ],
      ['.tributary-sync-source.json', [{}, { accountId: 7 }, { accountId: 'a\n' }, []]],
    ]
    responses = { ...sound(), checksums: { asOf: at, data: [] } }
    for (const [name, contents] of states) {
      const sane = await readFile(join(copy, name))
      for (const text of [...contents.map((content) => JSON.stringify(content)), '{', '']) {
        await writeFile(join(copy, name), text)
        expect([text, await sync(copy)]).toEqual([text, 1])
        expect(errors).toBe(
          `error: ${join(copy, name)} was changed by another program; delete it, and the next run writes it again.\n`,
        )
        await expectOutsideUnchanged()
      }
      await writeFile(join(copy, name), sane)
    }
  })

  it('follows no symbolic link in the folder', async () => {
    const outside = join(place, 'outside')
    await mkdir(join(copy, 'clicks'), { recursive: true })
    await symlink(outside, join(copy, 'clicks/day=2026-11-20'))
    expect(await failing(copy)).toContain('is a symbolic link or a file, not a folder; remove it.')
    await rm(join(copy, 'clicks'), { recursive: true })
    await symlink(outside, join(copy, 'clicks'))
    expect(await failing(copy)).toContain('is a symbolic link or a file, not a folder; remove it.')
    await rm(join(copy, 'clicks'))
    await symlink(join(outside, 'part.parquet'), join(copy, '.tributary-sync-source.json.tmp'))
    await mkdir(join(copy, 'clicks/day=2026-11-20'), { recursive: true })
    for (const name of ['.part.parquet.tmp', 'part.parquet'])
      await symlink(join(outside, 'part.parquet'), join(copy, 'clicks/day=2026-11-20', name))
    await symlink(join(outside, 'part.parquet'), join(copy, 'clicks/.tributary-sync.json.tmp'))
    expect(await sync(copy)).toBe(0)
    await expectOutsideUnchanged()
    expect(await readFile(join(copy, 'clicks/day=2026-11-20/part.parquet'))).toEqual(parquetFile)
    // The day has no rows any more: the link is removed, not what it leads to.
    await rm(join(copy, 'clicks/day=2026-11-20'), { recursive: true })
    await symlink(outside, join(copy, 'clicks/day=2026-11-20'))
    responses = { ...sound(), checksums: { asOf: at, data: [] } }
    expect(await sync(copy)).toBe(0)
    await expectOutsideUnchanged()
    await rm(join(copy, 'clicks/.tributary-sync.json'))
    await symlink('/dev/zero', join(copy, 'clicks/.tributary-sync.json'))
    expect(await failing(copy)).toContain('.tributary-sync.json is a symbolic link or a folder; remove it.')
  })

  it('prints an error of the server in one line, with its invisible characters escaped', async () => {
    const message = `\u001b[2J\rgone\n\u202e\u2066\u2028\ufeff\u{e0001}${'x'.repeat(100_000)}`
    responses = { ...sound(), key: { error: 'no\n', message } }
    const printed = await failing(copy)
    expect(printed).toMatch(/^error: [^\p{C}\p{Zl}]+\n$/u)
    expect(printed).toContain(String.raw`\u001b[2J\u000dgone\u000a\u202e\u2066\u2028\ufeff\udb40\udc01xxx`)
    expect(printed.length).toBeLessThan(5_000)
  })
})

describe('tributary-sync into DuckDB', () => {
  let database: DuckDBConnection | undefined
  /** A Parquet file of clicks. @param more columns with other values than the click @param from further rows */
  async function fileOf(more: Record<string, string> = {}, from = 'range(1)'): Promise<Buffer> {
    const time = `'${at}'::timestamptz`
    const columns = Object.entries(changing[0]?.fields ?? {}).flatMap(([field, type]) => {
      if (/^sub\d/.test(field)) return field === 'sub1' ? [['subIds', subIds]] : []
      return [[field, type === 'boolean NOT NULL' ? 'false' : `NULL::${type.replace(' NOT NULL', '')}`]]
    })
    const values = {
      ...Object.fromEntries(columns),
      id: "'c1'",
      clickedAt: time,
      storedAt: time,
      costBase: '1',
      ...more,
    }
    const list = Object.entries(values).map(([name, value]) => `${value} AS "${name}"`)
    database ??= await (await DuckDBInstance.create()).connect()
    await database.run(`COPY (SELECT ${list} FROM ${from}) TO '${join(place, 'outside/rows')}' (FORMAT parquet)`)
    const content = await readFile(join(place, 'outside/rows'))
    await rm(join(place, 'outside/rows'))
    return content
  }
  const subIds = `{${Array.from({ length: 10 }, (_, n) => `'sub${n + 1}': 's'`)}}`

  it('refuses a response that is not valid in one line, stores nothing of it, and continues after a valid one', async () => {
    // The characters are a pattern in a path of DuckDB.
    const file = join(place, 'outside/[copy]*.duckdb')
    const files: [string, string | Buffer][] = [
      ['the beginning of the file', '<html>busy</html>'],
      ['TProtocolException|Invalid Input|Parquet', 'PAR1\0\0\0\0PAR1'],
      ['the number of valid rows, of 1, is 0', await fileOf({ id: 'NULL' })],
      ['the number of valid rows, of 2, is 1', await fileOf({}, 'range(2)')],
      ['the number of valid rows, of 1, is 0', await fileOf({ clickedAt: "'2026-11-19 10:00:00Z'::timestamptz" })],
      ['the number of valid rows, of 1, is 0', await fileOf({ storedAt: "'infinity'::timestamptz" })],
      ['Conversion Error', await fileOf({ cost: "'1; DROP'" })],
      ['Constraint Error: NOT NULL', await fileOf({ isBot: 'NULL::boolean' })],
      ['Binder Error', await fileOf({ subIds: "{'other': 1}" })],
    ]
    for (const [reason, parquet] of files) {
      responses = { ...sound(), parquet }
      expect([reason, await sync(file)]).toEqual([reason, 1])
      expect(errors).toMatch(/^error: [^\n]*\n$/)
      expect(errors).toMatch(new RegExp(reason))
    }
    responses = { ...sound(), parquet: await fileOf(), asOf: 'infinity' }
    expect(await failing(file)).toContain('X-As-Of is "infinity"')
    expect(await queryDuckdb(file, 'SELECT since FROM tributary.sync_state')).toEqual([{ since: sound().asOf }])
    responses = { ...sound(), parquet: await fileOf({ later: '1' }) }
    expect([await sync(file), errors]).toEqual([0, ''])
    expect(await queryDuckdb(file, 'SELECT id, sub1 FROM tributary.clicks')).toEqual([{ id: 'c1', sub1: 's' }])
    expect((await readdir(join(place, 'outside'))).sort()).toEqual(['[copy]*.duckdb', 'part.parquet'])
  })
})

describe('tributary-sync into PostgreSQL', () => {
  const stores = useTestStores()
  const database = useOpened(() => openCopyTarget(stores))
  beforeAll(() => {
    environment = database.environment
  })

  it('refuses a response that is not valid in one line, stores nothing of it, and continues after a valid one', async () => {
    const ofRows: Case[] = [
      ['a row', { lines: [['x']] }],
      ...[undefined, null, 7, 'a\0'].map((id): Case => ['id', row({ id })]),
      ['storedAt', row({ storedAt: 'infinity' })],
      ['clickedAt', row({ clickedAt: 1 })],
      ['isBot', row({ isBot: 'false' })],
      ['cost', row({ cost: 'NaN' })],
      ['country', row({ country: {} })],
      ['subIds', row({ subIds: 'x' })],
      ['sub1', row({ subIds: { sub1: 7 } })],
      ['cursor', row({ cursor: 'a b' })],
      ['cursor', row({ cursor: 'x'.repeat(3_000) })],
      ['X-As-Of', { asOf: 'infinity' }],
    ]
    for (const [field, changed] of [...ofBoth, ...ofRows]) {
      responses = { ...sound(), ...changed }
      expect([field, await sync(database.url)]).toEqual([field, 1])
      expect(errors).toMatch(/^error: [^\n]*\n$/)
      expect(errors).toMatch(new RegExp(`is not valid: ${field}|A line of the export has no cursor`))
      expect(await database.sql`SELECT id FROM tributary.clicks`).toEqual([])
      expect(
        await database.sql`SELECT FROM tributary.sync_state WHERE since IS NOT NULL OR cursor IS NOT NULL`,
      ).toHaveLength(0)
    }
    // Unknown fields come from a later version; a sub-id cannot replace a field.
    responses = {
      ...sound(),
      ...row({ 'x"; DROP': 1, subIds: { sub1: 's', id: 'other', __proto__: 1, storedAt: 'x' } }),
    }
    expect(await sync(database.url)).toBe(0)
    expect(await database.sql`SELECT id, sub1, stored_at FROM tributary.clicks`).toEqual([
      { id: 'c1', sub1: 's', stored_at: new Date(at) },
    ])
  })

  it('replaces no day by rows of another day', async () => {
    await database.sql`UPDATE tributary.clicks SET stored_at = stored_at - interval '1 ms'`
    responses = { ...sound(), lines: [{ ...click, id: 'c2', clickedAt: '2026-11-19T10:00:00.000Z', cursor: 'x1' }] }
    await database.sql`UPDATE tributary.sync_state SET cursor = NULL, since = '2026-11-21T00:00:00.000Z'`
    expect(await failing(database.url)).toContain('clickedAt of a row of 2026-11-20 is "2026-11-19T10:00:00.000Z"')
    expect(await database.sql`SELECT id FROM tributary.clicks WHERE clicked_at >= '2026-11-20'`).toEqual([{ id: 'c1' }])
  })

  it('refuses a state that another program has changed', async () => {
    const values = { first_day: '-infinity', since: 'infinity', next_since: '2026-02-30T00:00:00Z', cursor: 'a b' }
    for (const [column, value] of Object.entries(values)) {
      await database.sql`DELETE FROM tributary.sync_state`
      await database.sql.unsafe(`INSERT INTO tributary.sync_state (resource, ${column}) VALUES ('clicks', '${value}')`)
      responses = sound()
      expect([column, await sync(database.url)]).toEqual([column, 1])
      expect(errors).toMatch(/the row clicks of tributary.sync_state was changed by another program; delete it/)
    }
    await database.sql`DELETE FROM tributary.sync_state`
    await database.sql`
      INSERT INTO tributary.clicks (id, clicked_at, is_bot, is_test, stored_at)
      VALUES ('far', 'infinity', false, false, now())`
    expect(await failing(database.url)).toContain(
      'tributary.clicks has a row with clicked_at before the year 1 or after 9999; delete it.',
    )
  })
})
