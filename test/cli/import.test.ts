import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeAccount } from '../import/runImport.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'
import { exitOf, runHere, start } from './runCommand.ts'

let stores: TestStores
let account: string
let folder: string
beforeAll(async () => {
  stores = await openTestStores()
})
afterAll(() => stores.close())
beforeEach(async () => {
  account = await makeAccount(stores)
  folder = await mkdtemp(join(tmpdir(), 'tributary-command-'))
})
afterEach(() => rm(folder, { recursive: true }))

const importing = (...words: string[]) => runHere(['import', ...words], stores.environment)
const good = '{"id":"a","clickedAt":"2026-01-01T00:00:00Z"}\n'
const bad = '{"id":"b"}\n'
async function fileOf(content: string, name = 'clicks.ndjson'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

it('says what became of the rows, for people or as JSON', async () => {
  const file = await fileOf(good)
  expect(await importing('clicks', file, '--account', account)).toEqual({
    code: 0,
    stdout: '1 row read: 1 inserted, 0 updated, 0 duplicates, 0 rejected.\n',
    stderr: '',
  })
  const again = await importing('clicks', file, '--account', account, '--json')
  expect(again).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(again.stdout)).toEqual({ read: 1, inserted: 0, updated: 0, duplicates: 1, rejected: 0 })
  expect(await readdir(folder)).toEqual(['clicks.ndjson'])
})

it('keeps rejected rows beside the file, or where it is told, and fails for them only when it is to be strict', async () => {
  const file = await fileOf(good + bad)
  const first = await importing('clicks', file, '--account', account)
  expect(first.code).toBe(0)
  expect(first.stdout).toContain(`1 rejected (see ${file}.rejects.ndjson)`)
  const reject = { line: 2, reason: 'clickedAt: is required', row: '{"id":"b"}' }
  expect(JSON.parse(await readFile(`${file}.rejects.ndjson`, 'utf8'))).toEqual(reject)
  const elsewhere = join(folder, 'elsewhere')
  const strict = await importing('clicks', file, '--account', account, '--strict', '--rejects', elsewhere, '--json')
  expect(strict).toMatchObject({ code: 1, stderr: 'error: 1 rows were rejected (--strict).\n' })
  expect(JSON.parse(strict.stdout)).toMatchObject({ read: 2, rejected: 1 })
  expect(JSON.parse(await readFile(elsewhere, 'utf8'))).toEqual(reject)
})

it('reads NDJSON from standard input, and writes rejected rows to standard error unless --rejects is given', async () => {
  const child = start(['import', 'clicks', '-', '--account', account, '--json'], stores.environment)
  child.stdin.end(good + bad)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 2, inserted: 1, rejected: 1 }])
  expect(JSON.parse(stderr)).toEqual({ line: 2, reason: 'clickedAt: is required', row: '{"id":"b"}' })
})

describe('an invalid call of import exits with one line', () => {
  it.each([
    [['clickz', 'x.ndjson', '--account', 'acme'], 2, /cannot import clickz/],
    [['clicks', 'x.json', '--account', 'acme'], 2, /must end in \.ndjson, \.csv/],
    [['clicks', 'x.ndjson'], 2, /--account/],
    [['clicks', 'x.ndjson', '--account', 'no body'], 2, /An id has/],
    [['clicks', 'x.ndjson', '--account', 'acme', '--rejects', './x.ndjson'], 2, /must not be the imported file/],
    [['clicks', 'x.ndjson', '--account', 'nobody'], 1, /no such account: nobody/],
  ])('%j', async (words, code, line) => {
    const ended = await importing(...words)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).toMatch(/^error: [^\n]+\n$/)
    expect(ended.stderr).toMatch(line)
  })

  it('for a file that does not exist, is damaged or is not valid CSV', async () => {
    const headless = await fileOf('id,id\n1,2\n', 'twice.csv')
    for (const [file, line] of [
      [join(folder, 'none.ndjson'), /does not exist/],
      [headless, /its header names "id" twice/],
      [await fileOf('no gzip', 'plain.ndjson.gz'), /is damaged/],
    ] as const) {
      const ended = await importing('clicks', file, '--account', account)
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toMatch(/^error: [^\n]+\n$/)
      expect(ended.stderr).toMatch(line)
    }
  })

  it('for a rejects file that cannot be written', async () => {
    const file = await fileOf(bad)
    const ended = await importing('clicks', file, '--account', account, '--rejects', join(folder, 'none', 'rejects'))
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/^error: rejected rows can't be written to .*; see --rejects\./)
  })
})
