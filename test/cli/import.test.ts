// @module-tag all
// @module-tag postgres

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWriter } from '../../src/writer/openWriter.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { changeTables } from '../kit/rows.ts'
import { running } from '../writer/withWriter.ts'
import { type Ended, exitOf, expectOneLine, runHere, start } from './runCommand.ts'

const stores = useTestStores()
let account: string
let folder: string
beforeEach(async () => {
  account = await makeAccount(stores)
  folder = await mkdtemp(join(tmpdir(), 'tributary-command-'))
})
afterEach(() => rm(folder, { recursive: true }))

const importing = (...words: string[]) => runHere(['import', ...words, '--account', account], stores.environment)
async function pipe(input: string, ...words: string[]): Promise<Ended> {
  const child = start(['import', ...words, '--account', account, '--json'], stores.environment)
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  return { stdout, stderr, code }
}
const good = '{"id":"a","clickedAt":"2026-01-01T00:00:00Z"}\n'
const bad = '{"id":"b"}\n'
async function fileOf(content: string, name = 'clicks.ndjson'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

it('warns when a file has no rows', async () => {
  for (const name of ['rows.ndjson', 'rows.csv']) {
    const empty = await fileOf('', name)
    expect(await importing('clicks', empty)).toMatchObject({
      code: 0,
      stderr: `Warning: ${empty} has no rows.\n`,
    })
  }
})

it('prints the counts of rows, as text or as JSON', async () => {
  const file = await fileOf(good)
  expect(await importing('clicks', file)).toEqual({
    code: 0,
    stdout: '1 row read: 1 inserted, 0 updated, 0 duplicates, 0 rejected.\n',
    stderr: '',
  })
  const again = await importing('clicks', file, '--json')
  expect(again).toMatchObject({ code: 0, stderr: '' })
  const none = { inserted: 0, updated: 0, older: 0, rejected: 0 }
  expect(JSON.parse(again.stdout)).toEqual({ read: 1, ...none, duplicates: 1, conflicting: 0 })
  const other = await fileOf(good.replace('}', ',"cost":1}'), 'other.ndjson')
  expect(await importing('clicks', other, '--strict')).toEqual({
    code: 0,
    stdout: '1 row read: 0 inserted, 0 updated, 1 duplicates (1 conflicting), 0 rejected.\n',
    stderr: expect.stringMatching(
      /^warning: 1 row differs from the stored row with its id, and was not stored \(a\)\. /,
    ),
  })
  expect(await readdir(folder)).toEqual(['clicks.ndjson', 'other.ndjson'])
})

it('fails when every row was rejected, but not when every row is a duplicate', async () => {
  for (const more of [[], ['--dry-run']]) {
    const rejected = await importing('clicks', await fileOf(bad.repeat(2)), '--json', ...more)
    expect(rejected).toMatchObject({ code: 1, stderr: expect.stringMatching(/\nerror: every row was rejected\.\n$/) })
    expect(JSON.parse(rejected.stdout)).toMatchObject({ read: 2, rejected: 2 })
  }
  const sheet = await fileOf('Day,Ad,Cost\n2026-11-20,c,x\nTotal,--,5\n', 'sheet.csv')
  expect((await importing('costs', sheet, '--map', 'Day=spentAt,Ad=campaignId,Cost=cost')).code).toBe(1)
  const file = await fileOf(good)
  for (const _ of [1, 2]) expect(await importing('clicks', file)).toMatchObject({ code: 0 })
})

it('writes rejected rows beside the file or to --rejects, and fails because of them only with --strict', async () => {
  const file = await fileOf(good + bad)
  const first = await importing('clicks', file)
  expect(first.code).toBe(0)
  expect(first.stdout).toContain(`1 rejected (see ${file}.rejects.ndjson)`)
  const reject = { line: 2, reason: 'clickedAt: is required', row: '{"id":"b"}' }
  expect(JSON.parse(await readFile(`${file}.rejects.ndjson`, 'utf8'))).toEqual(reject)
  expect((await stat(`${file}.rejects.ndjson`)).mode & 0o777).toBe(0o600)
  const elsewhere = join(folder, 'elsewhere')
  const strict = await importing('clicks', file, '--strict', '--rejects', elsewhere, '--json')
  expect(strict).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\nerror: 1 row was rejected \(--strict\)\.\n$/),
  })
  expect(JSON.parse(strict.stdout)).toMatchObject({ read: 2, rejected: 1 })
  expect(JSON.parse(await readFile(elsewhere, 'utf8'))).toEqual(reject)
})

it('says how to write standard input that is one JSON array, without a line feed at its end', async () => {
  const { code, stderr } = await pipe('[{"id":"a","clickedAt":"2026-01-01T00:00:00Z"}]', 'clicks', '-')
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('- cannot be imported: it is a JSON array; write one object'),
  ])
})

it('fails when standard input ends within a row, and a repetition ends as an import that was not interrupted', {
  tags: 'long',
}, async () => {
  const row = (id: string, status: string) => `${JSON.stringify({ id, status, convertedAt: '2026-01-01T00:00:00Z' })}\n`
  // One more row than a batch has.
  const others = Array.from({ length: 10_000 }, (_, n) => row(`s${n}`, 'approved')).join('')
  const content = row('changed', 'pending') + others + row('changed', 'approved')
  expect(await pipe(content.slice(0, -10), 'conversions', '-')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'error: standard input ended within a row, in line 10002; the command that writes it may have failed. Stored so far: 10000 of 10001 rows read. Run it again with the same rows in the same order to complete it.\n',
  })
  const { code, stdout } = await pipe(content.trimEnd(), 'conversions', '-')
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { read: 10_002, inserted: 1, updated: 1, duplicates: 10_000, older: 0, conflicting: 0, rejected: 0 },
  ])
  const query = `SELECT status FROM conversions FINAL WHERE account_id = '${account}' AND id = 'changed'`
  expect(await rowsOf(stores, query)).toEqual([{ status: 'approved' }])
})

it('reads NDJSON from standard input, and writes rejected rows to standard error unless --rejects is given', async () => {
  const { code, stdout, stderr } = await pipe(good + bad, 'clicks', '-')
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 2, inserted: 1, rejected: 1 }])
  const [reject = '', ...summary] = stderr.split('\n')
  expect(JSON.parse(reject)).toEqual({ line: 2, reason: 'clickedAt: is required', row: '{"id":"b"}' })
  expect(summary.join('\n')).toBe(
    'Rejected rows: 1. Most frequent reasons:\n  1 × clickedAt: is required\n      line 2: {"id":"b"}\n',
  )
})

it.each([
  ['clicks', 'SIGTERM', 0, 'Warning: ended by SIGTERM. What was read is stored.\n'],
  [
    'conversions',
    'SIGINT',
    1,
    'error: interrupted. Stored so far: 2 of 2 rows read. Run it again with the same rows in the same order to complete it.\n',
  ],
] as const)(
  'stores %s of an open pipe before it ends, and what was read when %s arrives',
  async (resource, signal, code, message) => {
    const child = start(['import', resource, '-', '--account', account], stores.environment)
    const [stderr, exit] = [text(child.stderr), exitOf(child)]
    const at = '2026-01-01T00:00:00Z'
    const row = (id: string) =>
      `${JSON.stringify({ id, ...(resource === 'clicks' ? { clickedAt: at } : { convertedAt: at, status: 'approved' }) })}\n`
    const stored = () =>
      rowsOf<{ id: string }>(stores, `SELECT id FROM ${resource} WHERE account_id = '${account}' ORDER BY id`)
    child.stdin.write(row('a'))
    await expect.poll(stored).toEqual([{ id: 'a' }])
    // More blank lines than a pipe and a stream hold: when they are written, the row before them was read.
    child.stdin.write(`${row('b')}${'\n'.repeat(1_000_000)}{"id`)
    await expect.poll(() => child.stdin.writableLength).toBe(0)
    child.kill(signal)
    expect([await exit, await stderr]).toEqual([code, message])
    expect(await stored()).toEqual([{ id: 'a' }, { id: 'b' }])
  },
)

it('prints the most frequent reasons of rejected rows, each with its count and its first row', async () => {
  const rows = [...Array(3).fill('a;x'), 'b\u001b[2J;yesterday', 'c;', 'd;2026-01-01T00:00:00Z']
  const { code, stdout, stderr } = await importing(
    'clicks',
    await fileOf(`id;clickedAt\n${rows.join('\n')}\n`, 'clicks.CSV'),
    '--json',
  )
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 6, inserted: 1, rejected: 5 }])
  expect(stderr).toBe(`Rejected rows: 5. Most frequent reasons:
  4 × clickedAt: must be a time such as 2026-11-21T03:00:00Z, 2026-11-21 03:00:00+01 or Sat, 21 Nov 2026 03:00:00 GMT
      line 2: a;x
  1 × id: must be text of 1 to 64 letters, digits and _ . : - (--hash-ids stores other ids as their SHA-256)
      line 5: b\\u001b[2J;yesterday
  1 × clickedAt: is required
      line 6: c;
`)
})

it('prints how many values changed, with the first of each field, and in JSON; not of rejected rows', async () => {
  const rows = [
    'a,2026-11-21T03:00:00.123456Z,0.30000000000000004',
    'b,2026-11-21T03:00:00.123000Z,0.25',
    'c c,2026-11-21T03:00:00.1239Z,0.1234567',
    'd,2026-11-21 03:00:00.0001 UTC,1.5',
  ]
  const file = await fileOf(`id,clickedAt,cost\n${rows.join('\n')}\n`, 'clicks.csv')
  const lines = `Values that changed:
  2 × clickedAt: is truncated to milliseconds
      line 2: 2026-11-21T03:00:00.123456Z
  1 × cost: is rounded to 6 decimals
      line 2: 0.30000000000000004
Rejected rows: 1. Most frequent reasons:
`
  const notes = [
    {
      field: 'clickedAt',
      message: 'is truncated to milliseconds',
      values: 2,
      line: 2,
      example: '2026-11-21T03:00:00.123456Z',
    },
    { field: 'cost', message: 'is rounded to 6 decimals', values: 1, line: 2, example: '0.30000000000000004' },
  ]
  for (const words of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await importing('clicks', file, '--json', ...words)
    expect([code, stderr.includes(lines), JSON.parse(stdout)]).toMatchObject([0, true, { read: 4, rejected: 1, notes }])
  }
})

it('stops with exit code 1 and stores nothing when the first 1,000 rows are all rejected', async () => {
  const file = await fileOf(bad.repeat(1_000) + good)
  const stopped = await importing('clicks', file)
  expect([stopped.code, stopped.stdout]).toEqual([1, ''])
  expect(stopped.stderr).toContain('  1000 × clickedAt: is required')
  expect(stopped.stderr).toMatch(
    /\nerror: import stopped \(see .*\)\. The first 1000 rows were all rejected; .*0 of 1000 rows read\.\n$/,
  )
  expect((await importing('clicks', file, '--max-rejects', '100%')).stdout).toContain('1 inserted')
})

it('stops at --max-rejects and keeps the rows that were stored before', async () => {
  const rows = good + bad
  const stop = async (limit: string, content: string) =>
    await importing('clicks', await fileOf(content), '--max-rejects', limit)
  const atFirst = await stop('0', rows)
  expect(atFirst.code).toBe(1)
  expect(atFirst.stderr).toMatch(
    /1 of 2 rows were rejected, more than --max-rejects 0\. Stored so far: 0 of 2 rows read\.\n$/,
  )
  expect((await stop('1', rows)).code).toBe(0)
  expect((await stop('50%', rows)).code).toBe(0)
  expect((await stop('49.9%', rows)).stderr).toContain('more than --max-rejects 49.9%')
})

it('reads a file with other columns, and names the columns of --map that it does not have', async () => {
  // A backslash takes the meaning of a comma, an equals sign and a backslash away, and is a character before any other one.
  const words = [
    '--map',
    'Click ID=id,Time=clickedAt,Cost\\, USD=cost,a\\=b\\\\=os',
    '--values',
    'os:x\\, \\y=v\\,1=2,cost:\\N=',
  ]
  const options = [...words, '--constant', 'campaignId=spring']
  const rows = 'k,2026-11-21 03:00,0.5,"x, \\y",x\nl,2026-11-21 03:00,\\N,x,x\n'
  const file = await fileOf(`Click ID,Time,"Cost, USD",a=b\\,Note\n${rows}`, 'export.csv')
  expectOneLine(
    await importing('clicks', file, ...options),
    1,
    /its header has unknown columns: Note\. Columns of clicks/,
  )
  const stored = await importing('clicks', file, ...options, '--tz', 'europe/berlin', '--ignore-unknown', '--strict')
  expect(stored).toMatchObject({ code: 0, stdout: expect.stringContaining('2 inserted') })
  const query = `
    SELECT id, toString(clicked_at) AS at, campaign_id, os, toString(cost) AS cost FROM clicks WHERE account_id = '${account}' ORDER BY id`
  const both = { at: '2026-11-21 02:00:00.000', campaign_id: 'spring' }
  expect(await rowsOf(stores, query)).toEqual([
    { id: 'k', ...both, os: 'v,1=2', cost: '0.5' },
    { id: 'l', ...both, os: 'x', cost: null },
  ])
  const other = await fileOf('id,clickedAt\n', 'other.csv')
  expectOneLine(
    await importing('clicks', other, ...options),
    1,
    'its header has no column Click ID and no column Time and no column Cost, USD and no column a=b\\.',
  )
})

it('warns of columns of --map that no JSON row has', async () => {
  const file = await fileOf('{"id":"v","clickid":"k","convertedAt":"2026-01-01T00:00:00Z"}\n')
  const warningOf = async (map: string) => {
    const words = ['--map', map, '--constant', 'status=approved', '--ignore-unknown', '--dry-run']
    return (await importing('conversions', file, ...words)).stderr.replace(/^line 1 as it would be stored: .*\n/, '')
  }
  expect(await warningOf('clickid=clickId')).toBe('')
  expect(await warningOf('clikid=clickId')).toBe('warning: no row has the column clikid of --map.\n')
})

it('checks every row with --dry-run, beside another import, and writes nothing', async () => {
  const file = await fileOf(`${good}${bad}{"id":"c","cost":"x"}\n`)
  const writer = await openWriter(stores, account, running)
  try {
    const checked = await importing('clicks', file, '--dry-run')
    expect(checked).toMatchObject({ code: 0, stdout: 'Dry run: 3 read, 1 valid, 2 rejected; nothing was stored.\n' })
    expect(checked.stderr).toContain('  2 × clickedAt: is required\n')
    expect(checked.stderr).toContain("  1 × cost: must be a number (--values 'cost:x=…' replaces it)\n")
    const strict = await importing('clicks', file, '--dry-run', '--strict', '--json')
    expect([strict.code, JSON.parse(strict.stdout)]).toEqual([1, { read: 3, valid: 1, rejected: 2 }])
  } finally {
    await writer.close()
  }
  expect(await readdir(folder)).toEqual(['clicks.ndjson'])
  expect(await rowsOf(stores, `SELECT 1 FROM clicks WHERE account_id = '${account}'`)).toEqual([])
  await stores.postgres`
    INSERT INTO retained_ranges (account_id, resource, retained_from) VALUES (${account}, 'clicks', '2026-02-01')`
  const removed = await importing('clicks', await fileOf(good), '--dry-run')
  expect(removed.stderr).toContain('clickedAt: is before 2026-02-01; the account has removed earlier rows')
})

it('reads CSV with the delimiter of its header, unless --delimiter says another', async () => {
  const file = await fileOf('id\tclickedAt\na\t2026-01-01T00:00:00Z\n', 'clicks.csv')
  expect((await importing('clicks', file)).stdout).toContain('1 inserted')
  expect((await importing('clicks', file, '--delimiter', 'tab')).stdout).toContain('1 duplicates')
  const asCommas = await importing('clicks', file, '--delimiter', ',')
  expectOneLine(asCommas, 1, 'no column id and no column clickedAt')
})

describe('an invalid import exits with one line', () => {
  const ofAcme: [words: string, line: RegExp][] = [
    ['clickz x.ndjson', /'clickz' is invalid for argument 'resource'\. Allowed choices are campaigns,/],
    ['clicks x.xlsx', /must end in \.ndjson, \.jsonl, \.json, \.csv or \.tsv/],
    ['costs x.csv --map cost_micros=cost', /the amounts of column cost_micros are millionths/],
    ['clicks x.csv --delimiter |', /Use , or ; or tab\.\n$/],
    ['clicks x.json --delimiter ;', /--delimiter is for CSV/],
    ['clicks x.csv --max-rejects 101%', /Use a number of rows/],
    ['clicks x.csv --max-rejects 0.5', /Use a number of rows/],
    ...['', 'ts', 'a=id,', '=id', 'a\\=id', 'a=id,b\\'].map((map): [string, RegExp] => [
      `clicks x.ndjson --map ${map}`,
      /Use name=value, with commas between/,
    ]),
    ['clicks x.ndjson --map ts=time', /time is not a field of clicks; see: import --help/],
    ['conversions x.csv --constant status=approved --values status:approved=', /--constant status: is required\.\n$/],
    ['clicks x.ndjson --values state:a=b', /state is not a field of clicks/],
    ['clicks x.ndjson --map a=id --constant id=b', /must not set a field twice/],
    ['conversions x.ndjson --constant status=', /--constant status= has no value/],
    ['conversions x.csv --constant status=aproved,sub1=a', /--constant status: must be one of [^;]*\.\n$/],
    ...['eventName=Lead', 'status:=approved', 'subIds:a=b'].map((pair): [string, RegExp] => [
      `conversions x.ndjson --values ${pair}`,
      /: use field:text=value; lists and objects have no text/,
    ]),
    ['offers x.csv --values tags:a=b', /lists and objects have no text/],
    ['clicks x.ndjson --tz Berlin', /tz is not an IANA time zone/],
    ['clicks x.ndjson --rejects ./x.ndjson', /must not be the imported file/],
  ]
  it.each<[words: string, line: RegExp, code?: number]>([
    ...ofAcme.map(([words, line]): [string, RegExp] => [`${words} --account acme`, line]),
    ['clicks x.ndjson', /--account/],
    ['clicks x.ndjson --account a/b', /An id has/],
    ['clicks x.ndjson --account missing', /no such account: missing/, 1],
  ])('%j', async (words, line, code = 2) => {
    expectOneLine(await runHere(['import', ...words.split(' ')], stores.environment), code, line)
  })

  it('for a file that does not exist', async () => {
    expectOneLine(await importing('clicks', join(folder, 'none.ndjson')), 1, /does not exist/)
  })

  it('for a rejects file that cannot be written', async () => {
    const file = await fileOf(bad)
    const ended = await importing('clicks', file, '--rejects', join(folder, 'none', 'rejects'))
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/\nerror: rejected rows can't be written to .*; see --rejects\./)
  })
})

it('ends with one sentence when the disk of ClickHouse is full, and is completed by running it again', async () => {
  const file = await fileOf(good)
  const setting = 'min_free_disk_bytes_to_perform_insert'
  await changeTables(stores, `ALTER TABLE clicks MODIFY SETTING ${setting} = ${Number.MAX_SAFE_INTEGER}`)
  try {
    const line = /^error: ClickHouse cannot write to its disk: .+\. Free space on it, /
    expectOneLine(await importing('clicks', file), 1, line)
  } finally {
    await changeTables(stores, `ALTER TABLE clicks RESET SETTING ${setting}`)
  }
  expect((await importing('clicks', file)).stdout).toContain('1 inserted')
})
