// @module-tag all

import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { placeOf, withoutSecrets } from '../../../src/packages/sync/place.ts'
import { run } from '../../../src/packages/sync/program.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { openCopyTarget } from '../../kit/copyTarget.ts'
import { useFolder, useOpened } from '../../kit/fixtures.ts'
import { runProgram } from '../runProgram.ts'
import { queryDuckdb } from './queryDuckdb.ts'

const api = useTestApp()
const folder = useFolder()
const target = useOpened(() => openCopyTarget(api.stores))
const ids = ['acme', 'Acme', 'acme-2']
const keys: string[] = []
let url = ''

beforeAll(async () => {
  url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  for (const [index, id] of ids.entries()) {
    keys.push(await api.account(id))
    const clicks = Array.from({ length: index + 1 }, (_, n) => ({
      id: `${id}-${n}`,
      clickedAt: '2026-11-10T10:00:00Z',
    }))
    await importContent(api.stores, id, 'clicks', clicks)
  }
})

/** @param lines of the file of keys */
async function sync(place: string, lines: readonly string[], ...more: string[]) {
  await writeFile(folder('keys'), lines.join('\r\n'))
  const words = [place, '--url', url, '--keys', folder('keys'), '--heartbeat', folder('heartbeat'), ...more]
  return await runProgram(run, words, { PATH: process.env.PATH ?? '', ...target.environment })
}

const placesOf = (place: string) => ids.map((id) => placeOf(place, 'tributary', id))

describe('tributary-sync --keys', () => {
  it('copies each account to its own place, and says what was copied', async () => {
    const lines = ['# all accounts', '', ...keys.map((key) => ` ${key}`), '']
    for (const place of [target.url, folder('all.duckdb'), folder('all')]) {
      const { code, stdout, stderr } = await sync(place, lines, '--json', '--verify')
      expect([code, stderr]).toEqual([0, ''])
      const printed = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(printed).toMatchObject(
        ids.map((account, index) => ({
          account,
          target: withoutSecrets(placeOf(place, 'tributary', account).target),
          asOf: expect.stringMatching(/^20\d\d-\d\d-\d\dT/),
          durationMs: expect.any(Number),
          verified: { clicks: { days: 1, rows: index + 1 } },
        })),
      )
      expect(Date.now() - Date.parse((await readFile(folder('heartbeat'), 'utf8')).trim())).toBeLessThan(60_000)
    }
    for (const [index, { schema }] of placesOf(target.url).entries()) {
      const [{ count } = {}] = await target.sql`SELECT count(*)::int AS count FROM ${target.sql(schema)}.clicks`
      await target.sql`DROP SCHEMA ${target.sql(schema)} CASCADE`
      const [row] = await queryDuckdb(
        `${placesOf(folder('all.duckdb'))[index]?.target}`,
        'SELECT count(*)::int AS count FROM tributary.clicks',
      )
      expect([count, row]).toEqual([index + 1, { count: index + 1 }])
    }
    for (const place of placesOf(folder('all')))
      expect(existsSync(`${place.target}/clicks/day=2026-11-10/part.parquet`)).toBe(true)
  })

  it('copies the others when an account fails, then ends with 1, without heartbeat and without a key in its output', async () => {
    await writeFile(folder('heartbeat'), 'before')
    const wrong = `trb_live_${'x'.repeat(40)}`
    const { code, stdout, stderr } = await sync(folder('some'), [keys[0] ?? '', wrong, keys[2] ?? ''])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: key 2: .*401.*\nerror: 1 of 3 accounts failed\.\n$/)
    expect(stdout.match(/^Account .* in/gm)).toHaveLength(2)
    for (const key of [...keys, wrong]) expect(stdout + stderr).not.toContain(key.slice(9))
    expect(await readFile(folder('heartbeat'), 'utf8')).toBe('before')
  })

  it.each([
    [['# none', ''], /must have an API key per line/],
    [['trb_live_a b'], /must have an API key per line/],
  ])('refuses a file of %j', async (lines, message) => {
    const { code, stdout, stderr } = await sync(folder('none'), lines)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('trb_live')
  })

  it('refuses a statement, which has no single copy', async () => {
    expect(await sync(folder('none.duckdb'), keys, '--sql', 'SELECT 1')).toMatchObject({ code: 2 })
  })
})

const accountId = fc.stringMatching(/^[\w.:-]{1,64}$/)

it('the places of two accounts differ also without case, and are below the target', () => {
  fc.assert(
    fc.property(accountId, accountId, (one, other) => {
      fc.pre(one !== other)
      for (const place of ['postgres://h/d', '/a/copies', '/a/copies/', 's3://b/p', '/a/copy.duckdb']) {
        const [first, second] = [one, other].map((id) => placeOf(place, 'tributary', id))
        expect(JSON.stringify(first).toLowerCase()).not.toBe(JSON.stringify(second).toLowerCase())
        expect(first?.target).toMatch(/^(postgres:\/\/h\/d|\/a\/copies\/\w+|s3:\/\/b\/p\/\w+|\/a\/copy-\w+\.duckdb)$/)
        expect(first?.schema).toMatch(/^[a-z0-9_]{1,63}$/)
      }
    }),
  )
})

it.each([
  ['postgres://user:p@ss/w@rd@host:5432/db?password=secret', 'postgres://host:5432/db'],
  ['postgresql://host/db', 'postgresql://host/db'],
  ['s3://bucket/prefix', 's3://bucket/prefix'],
])('%s is printed without secrets', (given, printed) => {
  expect(withoutSecrets(given)).toBe(printed)
})
