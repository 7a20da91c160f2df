// @module-tag all

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { scopes } from '../../../schema/scopes.ts'
import { packageRoot } from '../../../src/package.ts'
import { createTributary } from '../../../src/packages/client/client.ts'
import { run } from '../../../src/packages/sync/program.ts'
import { expectOneLine } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { openCopyTarget } from '../../kit/copyTarget.ts'
import { useFolder, useOpened } from '../../kit/fixtures.ts'
import { storeEvents } from '../../kit/rows.ts'
import { runProgram } from '../runProgram.ts'
import { queryDuckdb } from './queryDuckdb.ts'
import { clickCount, clicks, conversions, untilEventsAreListed, useSource } from './source.ts'

const api = useTestApp()
const source = useSource(api)
const folder = useFolder()
const postgres = useOpened(() => openCopyTarget(api.stores))
const environmentOf = (TRIBUTARY_KEY: string) => ({
  PATH: process.env.PATH ?? '',
  TRIBUTARY_KEY,
  ...postgres.environment,
})
const targets = () => [postgres.url, folder('copy.duckdb')]

/** Runs the command on a copy; without `--no-sync` it updates it first. */
const execute = (target: string, ...words: string[]) =>
  runProgram(run, [target, ...words], { PATH: process.env.PATH ?? '', ...postgres.environment })

/** Executes a statement on both copies as they are. @returns what both print */
async function onBoth(statement: string, format: string, ...more: string[]): Promise<string> {
  const outputs: string[] = []
  for (const target of targets()) {
    const { code, stdout } = await execute(target, '--no-sync', '--sql', statement, '--format', format, ...more)
    expect(code).toBe(0)
    outputs.push(stdout)
  }
  expect(outputs[1]).toBe(outputs[0])
  return outputs[0] ?? ''
}

describe('tributary-sync --sql', () => {
  it('brings a copy up to date, prints the rows of a statement, and says as of when they are', async () => {
    for (const [n, target] of [...targets(), postgres.url].entries()) {
      // Reports do not count it: at the end, one copy lacks the last one.
      const added = clicks(clickCount + n, clickCount + n + 1).map((click) => ({ ...click, isTest: true }))
      await importContent(api.stores, 'acme', 'clicks', added)
      const { data } = await source.client.get('/checksums/clicks', { query: { from: '2026-11-18', to: '2026-11-21' } })
      const total = data.reduce((sum, { rows }) => sum + rows, 0)
      const words = [target, '--url', source.baseUrl, '--sql', 'SELECT count(*) AS clicks FROM clicks;']
      const { code, stdout, stderr } = await runProgram(run, words, environmentOf(source.key))
      expect([code, stdout]).toEqual([0, `clicks\r\n${total}\r\n`])
      expect(stderr).toMatch(/^Account acme in .*\nRows stored: clicks .*\n1 row as of 20\d\d-\d\d-\d\dT[\d:.]+Z\n$/)
    }
  })

  it('copies clicks and conversions also if events cannot be read', async () => {
    const apiKey = await api.account('partial', { scopes: scopes.filter((scope) => scope !== 'read:events') })
    await importContent(api.stores, 'partial', 'clicks', clicks(0, 2))
    await importContent(api.stores, 'partial', 'conversions', conversions(0, 1, 'approved', 0))
    const words = [postgres.url, '--schema', 'partial']
    expectOneLine(await runProgram(run, [...words, '--url', source.baseUrl], environmentOf(apiKey)), 1, /read:events/)
    const counts = 'SELECT (SELECT count(*) FROM clicks) AS clicks, (SELECT count(*) FROM conversions) AS conversions'
    const { stdout } = await runProgram(run, [...words, '--no-sync', '--sql', counts], environmentOf(apiKey))
    expect(stdout).toBe('clicks,conversions\r\n2,1\r\n')
  })

  it('says as of when all rows are copied, also if there are no conversions, or none for a long time', async () => {
    const apiKey = await api.account('quiet')
    const sync = async (target: string, ...more: string[]) => {
      const resources = 'clicks,conversions,costs,events'
      const words = [target, '--url', source.baseUrl, '--schema', 'quiet', '--resources', resources, ...more]
      const statement = 'SELECT max(stored_at) AS newest FROM clicks'
      const { stdout, stderr } = await runProgram(run, [...words, '--sql', statement], environmentOf(apiKey))
      // The printed time has no zeros at its end.
      const newest = stdout.split('\r\n')[1] ?? ''
      return { newest: newest && new Date(newest).toISOString(), asOf: /as of (\S+Z)\n$/.exec(stderr)?.[1] ?? '' }
    }
    const reader = createTributary({ baseUrl: source.baseUrl, apiKey })
    const importing = (rows: object[]) => importContent(api.stores, 'quiet', 'clicks', rows)
    for (const round of [0, 1]) {
      await importing(clicks(round, round + 1))
      const [stored] = (await reader.get('/clicks', { query: { limit: 1 } })).data
      // The present of a copy is two seconds before the present of events.
      const presentMs = async () =>
        Date.parse((await reader.get('/checksums/events', { query: { from: '2026-11-01', to: '2026-11-01' } })).asOf)
      await expect.poll(presentMs, { interval: 250 }).toBeGreaterThan(Date.parse(`${stored?.storedAt}`) + 2_000)
      for (const target of targets()) {
        const { asOf, newest } = await sync(target)
        expect([asOf > `${stored?.storedAt}`, newest]).toEqual([true, stored?.storedAt])
      }
      if (round === 0) await importContent(api.stores, 'quiet', 'conversions', conversions(0, 1, 'approved', 0))
    }
    // Rows that were not read since hold the time.
    await importing(clicks(2, 3))
    for (const target of targets()) {
      const before = await sync(target, '--no-sync')
      const { asOf, newest } = await sync(target, '--resources', 'clicks')
      expect([asOf < newest, asOf]).toEqual([true, before.asOf])
    }
    await postgres.sql`DROP SCHEMA quiet, partial CASCADE`
  })

  it('has one row of a report for a stored text (not set) and for absent values, as the API', async () => {
    const at = '2026-11-21T10:00:00Z'
    await importContent(api.stores, 'acme', 'clicks', [
      { id: 'text', clickedAt: at, browser: '(not set)' },
      { id: 'absent', clickedAt: at },
    ])
    for (const target of targets())
      await runProgram(run, [target, '--url', source.baseUrl, '--resources', 'clicks'], environmentOf(source.key))
    const statement = "SELECT id, name, clicks FROM report('browser', '2026-11-21', '2026-11-22')"
    const { data } = await source.client.get('/reports', {
      query: { group_by: 'browser', from: '2026-11-21', to: '2026-11-21' },
    })
    const expected = [{ id: '(not set)', name: '(not set)', clicks: 2 }]
    expect(data).toMatchObject(expected)
    expect(JSON.parse(await onBoth(statement, 'json'))).toEqual(expected)
  })

  it('prints every type as CSV, JSON and a table', async () => {
    const statement = `
      SELECT id, referrer, clicked_at, clicked_at::date AS day, cost, is_bot, country, NULL AS missing, '' AS empty
      FROM clicks WHERE id IN ('c1', 'c2') ORDER BY id`
    expect(await onBoth(statement, 'csv')).toBe(
      `id,referrer,clicked_at,day,cost,is_bot,country,missing,empty\r
c1,"https://x/""\\1",2026-11-18T00:26:40Z,2026-11-18,0.100020,false,US,,""\r
c2,"https://x/""\\2",2026-11-18T00:53:20Z,2026-11-18,0.100030,false,,,""\r
`,
    )
    const lines = (await onBoth(statement, 'ndjson')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(await onBoth(statement, 'json')))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      referrer: 'https://x/"\\1',
      cost: 0.10002,
      is_bot: false,
      missing: null,
    })
    expect(await onBoth('SELECT name, tags FROM campaigns', 'json')).toBe(
      '[{"name":"Spring, \\"2026\\"","tags":["a","b|c"]}]\n',
    )
    const events = "SELECT properties FROM events WHERE id = 'e1' AND origin = 'server'"
    expect(JSON.parse(await onBoth(events, 'json'))).toMatchObject([{ properties: { text: '"\ufffd\\1', 7: false } }])
    expect(await onBoth("SELECT 7 AS n, 'a\nb\u202e' AS text UNION ALL SELECT 10, NULL ORDER BY 1", 'table')).toBe(
      ' n  text\n──  ──────────────\n 7  a\\u000ab\\u202e\n10\n',
    )
    // The text begins with a byte order mark.
    const marked = "SELECT '\ufeffa' AS short, '\ufeff' || repeat('a', 20) AS long"
    expect(JSON.parse(await onBoth(marked, 'json'))).toEqual([{ short: '\ufeffa', long: `\ufeff${'a'.repeat(20)}` }])
    expect(await onBoth('SELECT id FROM clicks WHERE false', 'csv')).toBe('id\r\n')
    expect(await onBoth('SELECT id FROM clicks WHERE false', 'json')).toBe('[]\n')
  })

  it('stores U+FFFD for U+0000 in properties, which no query on them could read, also in rows of an earlier version', async () => {
    const properties = String.raw`{"page":"/b","note":"a\u0000\u0000b","path":"\\u0000\\\u0000"}`
    await storeEvents(api.stores, 'acme', [
      { id: 'nul', visitor_id: 'v1', occurred_at: '2026-11-20 10:00:00.000', properties },
    ])
    await untilEventsAreListed(source.client, 81)
    const statement = `
      SELECT properties->>'page' AS page, properties->>'note' AS note, properties->>'path' AS path
      FROM events WHERE properties->>'page' <> ''`
    const replaced = [{ page: '/b', note: 'a\ufffd\ufffdb', path: '\\u0000\\\ufffd' }]
    for (const round of ['new', 'earlier']) {
      for (const target of targets()) {
        const words = [target, '--url', source.baseUrl, '--resources', 'events', '--verify', '--json']
        const { code, stdout } = await runProgram(run, words, environmentOf(source.key))
        expect([round, code, JSON.parse(stdout).verified.events.repaired]).toEqual([round, 0, []])
      }
      expect(JSON.parse(await onBoth(statement, 'json'))).toEqual(replaced)
      if (round === 'earlier') return
      const stored = `UPDATE tributary.events SET properties = '${properties}' WHERE id = 'nul';
        COMMENT ON TABLE tributary.sync_state IS 'earlier'`
      await postgres.sql.unsafe(stored)
      await queryDuckdb(folder('copy.duckdb'), stored)
    }
  })

  it('gives values to the parameters of a statement, apart from its text', async () => {
    const statement = `
      SELECT $text AS text, '$text''$' AS literal, $$ $text $$ AS quoted, count(*) AS "$text" -- $comment
      FROM clicks WHERE id = $_id1 OR (country = $text AND clicked_at >= $from::date) /* ' $text */`
    for (const text of ["'; DROP TABLE clicks; --", '$from', '', 'a=b\n"\\ é🎈']) {
      const given = [`text=${text}`, '_id1=c1', 'from=2026-11-18'].flatMap((one) => ['--param', one])
      expect(JSON.parse(await onBoth(statement, 'json', ...given))).toEqual([
        { text, literal: "$text'$", quoted: ' $text ', $text: 1 },
      ])
    }
    for (const target of targets()) {
      const run = (...words: string[]) => execute(target, '--no-sync', '--sql', 'SELECT $a::int + $b::int', ...words)
      expectOneLine(await run('--param', 'a=1'), 1, 'the statement has the parameter $b; add --param b=…')
      expectOneLine(await run('--param', 'a=1', '--param', 'b=2', '--param', 'c=3'), 1, 'has no parameter $c')
      expectOneLine(await run('--param', 'a=1', '--param', 'b=x'), 1, '')
      expectOneLine(await run('--param', 'a=1', '--param', 'a=2'), 2, 'each name once')
      expectOneLine(await run('--param', 'B=1'), 2, 'Use name=value')
    }
  })

  it('reads a statement from a file, and stops when its reader does', async () => {
    await writeFile(folder('all.sql'), '-- All clicks.\nSELECT * FROM click_details, generate_series(1, 30)\n')
    const program = join(packageRoot, 'src/packages/sync/dist/main.js')
    for (const target of targets()) {
      const command = `"$NODE" "$PROGRAM" "$TARGET" --no-sync --sql-file "$FILE" | head -2 | tail -1 | cut -c1-1`
      const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], {
        env: {
          PATH: process.env.PATH,
          NODE: process.execPath,
          PROGRAM: program,
          TARGET: target,
          FILE: folder('all.sql'),
          ...postgres.environment,
        },
      })
      expect([stdout, stderr]).toEqual(['c\n', expect.stringMatching(/^\d+ rows as of /)])
    }
    const environment = { PATH: process.env.PATH, NODE: process.execPath, PROGRAM: program }
    const help = await promisify(execFile)('sh', ['-c', '"$NODE" "$PROGRAM" --help | true'], { env: environment })
    expect(help).toEqual({ stdout: '', stderr: '' })
  })

  it('changes no row, and explains a failure in one line', async () => {
    await writeFile(folder('empty.sql'), ' -- nothing\n')
    const url = ['--url', source.baseUrl]
    for (const target of targets()) {
      for (const statement of [
        'DELETE FROM clicks',
        'CREATE TABLE tributary.mine (id text)',
        'SELECT 1; SELECT 2',
        'SELECT 1; DROP TABLE tributary.clicks',
        'SELEC 1',
        'SELECT colour FROM clicks',
      ])
        expectOneLine(await execute(target, '--no-sync', '--sql', statement), 1, '')
      expectOneLine(await execute(target, '--no-sync', '--sql', 'SELECT 1', '--schema', 'absent'), 1, 'absent')
      const { stdout } = await execute(
        target,
        '--no-sync',
        '--sql',
        `SELECT count(*) > ${clickCount} AS kept FROM clicks`,
      )
      expect(stdout).toBe('kept\r\ntrue\r\n')
    }
    for (const words of [
      ['--no-sync', '--sql', ''],
      ['--no-sync', '--sql-file', folder('empty.sql')],
      ['--no-sync', '--sql-file', folder('absent.sql')],
      ['--no-sync', '--sql', 'SELECT 1', '--format', 'xml'],
      ['--no-sync', '--sql', 'SELECT 1', '--sql-file', folder('empty.sql')],
      [...url, '--sql', 'SELECT 1', '--every', '5m'],
      [...url, '--sql', 'SELECT 1', '--json'],
      ['--sql', 'SELECT 1'],
      ['--no-sync'],
      [...url, '--format', 'csv'],
      [...url, '--param', 'a=1'],
    ])
      expectOneLine(await execute(folder('copy.duckdb'), ...words), 2, '')
    for (const [name, code, line] of [
      ['files', 2, '--sql needs a copy in PostgreSQL or'],
      ['absent.duckdb', 1, 'absent.duckdb cannot be opened'],
    ] as const)
      expectOneLine(await execute(folder(name), '--no-sync', '--sql', 'SELECT 1'), code, line)
  })
})
