// @module-tag all

import postgres from 'postgres'
import { afterEach, describe, expect, it } from 'vitest'
import { openReadableCopy } from '../../../src/packages/sync/postgres/query.ts'
import { openTables } from '../../../src/packages/sync/postgres/tables.ts'
import { TemporaryError } from '../../../src/packages/sync/source/errors.ts'
import { changing } from '../../../src/packages/sync/source/resources.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { hasPostgres, startPostgres } from '../../kit/postgresServer.ts'

describe.skipIf(!hasPostgres())('a copy on a PostgreSQL server', () => {
  const server = useOpened(startPostgres)

  async function openCopy(schema: string) {
    const url = server.url('tributary')
    const [clicks] = changing
    if (!clicks) throw new Error('no resource')
    const other = postgres(url, { max: 2, onnotice() {} })
    const target = await openTables(url, schema)
    opened.push(target.close, () => other.end())
    return { url, target, clicks, other }
  }
  const opened: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of opened.splice(0)) await close()
  })

  /** Waits until a copy waits for a lock. @returns the id of its process */
  async function waitForLock(other: postgres.Sql): Promise<number> {
    const waiting = () => other<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE application_name = 'tributary-sync' AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1)
    return (await waiting())[0]?.pid ?? 0
  }

  function clickOf(id: string, minute: number, more: Record<string, unknown> = {}) {
    const clickedAt = new Date(Date.UTC(2026, 10, 20, 0, minute)).toISOString()
    return { id, clickedAt, storedAt: clickedAt, isBot: false, isTest: true, subIds: { sub1: 's' }, ...more }
  }

  it('stores rows with their state or not at all, and continues after its connection broke', async () => {
    const { target, clicks, other } = await openCopy('stored')
    const before = await target.readState(clicks)
    const after = { ...before, cursor: 'c1' }
    const row = clickOf('c1', 0)

    const lock = await other.reserve()
    await lock`BEGIN`
    await lock`LOCK TABLE stored.clicks`
    const storing = target.store(clicks, [row], before, after)
    storing.catch(() => {})
    await other`SELECT pg_terminate_backend(${await waitForLock(other)})`
    await expect(storing).rejects.toThrow()
    await lock`COMMIT`
    lock.release()

    // The driver rejects queries until it has closed the connection.
    await expect.poll(() => target.readState(clicks), { timeout: 20_000 }).toEqual(before)
    await target.store(clicks, [row], before, after)
    expect(await target.readState(clicks)).toEqual(after)
    // With `--every` only this run fails.
    await expect(target.store(clicks, [{ ...row, id: 'c2' }], before, after)).rejects.toThrow(TemporaryError)
    expect(await other`SELECT id, sub1, stored_at FROM stored.clicks`).toEqual([
      { id: 'c1', sub1: 's', stored_at: new Date(row.storedAt) },
    ])
  })

  it('replaces rows that are in its table, and stores the last of those that it receives twice', async () => {
    const { target, clicks, other } = await openCopy('replaced')
    const before = await target.readState(clicks)
    const [first, second] = [
      { ...before, cursor: 'first' },
      { ...before, cursor: 'second' },
    ]
    await target.store(clicks, [clickOf('a', 1), clickOf('b', 2)], before, first)
    const changed = { storedAt: '2026-11-20T11:00:00.000Z', country: 'DE' }
    await target.store(clicks, [clickOf('b', 2, changed), clickOf('c', 3), clickOf('c', 3, changed)], first, second)
    expect(await target.readState(clicks)).toEqual(second)
    expect(await other`SELECT id, country FROM replaced.clicks ORDER BY id`).toEqual([
      { id: 'a', country: null },
      { id: 'b', country: 'DE' },
      { id: 'c', country: 'DE' },
    ])
  })

  it('deletes the other rows of a day between any two rows, and none if the rows are not complete', async () => {
    const { target, clicks, other } = await openCopy('days')
    const state = await target.readState(clicks)
    // Equal times; the order of bytes differs from the order of languages.
    const ids = ['~', 'é', 'b', 'a', '_', 'Z', 'B', '10', '1', '-']
    const day = [5, 4, 4, 4, 1].flatMap((minute, group) => ids.map((id) => clickOf(`${id}${group}`, minute)))
    day.sort((a, b) => b.clickedAt.localeCompare(a.clickedAt) || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)))
    const nextDay = clickOf('next', 24 * 60)
    await target.store(clicks, [...day, nextDay], state, state)
    const source = day.filter((_, index) => index % 3 === 1)
    const stored = async () => (await other`SELECT id FROM days.clicks WHERE id <> 'next'`).map(({ id }) => id).sort()
    async function* batches(size: number) {
      for (let from = 0; from < source.length; from += size) yield source.slice(from, from + size)
    }

    expect(await target.replaceRows(clicks, '2026-11-20', batches(4), async () => false)).toBeUndefined()
    expect(await stored()).toEqual(day.map(({ id }) => id).sort())
    expect(await target.replaceRows(clicks, '2026-11-20', batches(4), async () => true)).toBe(source.length)
    expect(await stored()).toEqual(source.map(({ id }) => id).sort())
    expect(await target.replaceRows(clicks, '2026-11-20', batches(1), async () => true)).toBe(source.length)
    expect(await stored()).toEqual(source.map(({ id }) => id).sort())
    source.length = 0
    expect(await target.replaceRows(clicks, '2026-11-20', batches(1), async () => true)).toBe(0)
    expect(await other`SELECT id FROM days.clicks`).toEqual([{ id: 'next' }])
  })

  it('stores and prints the same whatever the settings of the database are', async () => {
    const statement = String.raw`
      SELECT clicked_at, clicked_at::date AS day, '03/04/2026'::date AS given, '2026-04-03 10:00'::timestamptz AS at,
        interval '-1 day 2 hours' AS length, 0.1::float8 + 0.2::float8 AS number, '\x00ff'::bytea AS bytes, country,
        'a\nb' AS text, '{NULL}'::text[] AS list, NULL = NULL AS equal, xmlelement(name x, '\x01'::bytea)::text AS xml
      FROM clicks ORDER BY id`
    async function resultsIn(schema: string): Promise<unknown[]> {
      const { target, clicks, url } = await openCopy(schema)
      const state = { ...(await target.readState(clicks)), firstDay: '2026-04-03', since: '2026-11-20T10:00:00.000Z' }
      const rows = [clickOf('c1', 1, { cost: 0.1, costBase: 1e-6, country: 'Ü' }), clickOf('c2', 23 * 60 + 59)]
      await target.store(clicks, rows, await target.readState(clicks), state)
      const days = await target.days(clicks)
      const checksums = days && (await target.checksums(clicks, { asOf: '2027-01-01', range: days, days: [] }))
      const copy = await openReadableCopy(url, schema, new AbortController().signal)
      const printed: string[][] = []
      for await (const part of (await copy.query(statement, {})).parts) printed.push(...part)
      await copy.close()
      return [await target.readState(clicks), days, checksums, printed]
    }
    const expected = await resultsIn('usual')
    const { other } = await openCopy('altered')
    for (const [name, value] of Object.entries({
      DateStyle: 'SQL, DMY',
      TimeZone: 'America/New_York',
      IntervalStyle: 'sql_standard',
      extra_float_digits: '-15',
      bytea_output: 'escape',
      standard_conforming_strings: 'off',
      client_encoding: 'LATIN1',
      array_nulls: 'off',
      transform_null_equals: 'on',
      xmlbinary: 'hex',
      search_path: 'information_schema',
      lc_numeric: 'C',
    })) {
      const quoted = name === 'search_path' ? value : `'${value}'`
      await other.unsafe(`ALTER DATABASE tributary SET ${name} = ${quoted}`)
    }
    expect(await resultsIn('altered')).toEqual(expected)
    expect(JSON.stringify(expected)).toContain('"2026-04-03"')
    await other`ALTER DATABASE tributary RESET ALL`
  })

  it('continues after the last statement of a killed process, also if that is still running', async () => {
    const { target, clicks, other } = await openCopy('continued')
    await other`INSERT INTO continued.sync_state (resource, cursor) VALUES ('clicks', 'first')`
    const killed = await other.reserve()
    await killed`BEGIN`
    await killed`UPDATE continued.sync_state SET cursor = 'last'`
    const read = target.readState(clicks)
    await waitForLock(other)
    await killed`COMMIT`
    expect(await read).toMatchObject({ cursor: 'last' })
    killed.release()
  })

  it('is created as a whole or not at all, and when it exists, does not wait for its readers', async () => {
    const { url, other } = await openCopy('another')
    const transaction = await other.reserve()
    await transaction`BEGIN`
    await transaction`CREATE SCHEMA created`
    const opening = openTables(url, 'created')
    opening.catch(() => {})
    await other`SELECT pg_terminate_backend(${await waitForLock(other)})`
    await expect(opening).rejects.toThrow()
    await transaction`COMMIT`
    expect(await other`SELECT FROM information_schema.tables WHERE table_schema = 'created'`).toHaveLength(0)
    await (await openTables(url, 'created')).close()

    await transaction`BEGIN`
    await transaction`SELECT FROM created.click_details`
    await (await openTables(url, 'created')).close()
    await transaction`COMMIT`

    await other`ALTER TABLE created.clicks DROP COLUMN ip CASCADE`
    await (await openTables(url, 'created')).close()
    expect(await other`SELECT FROM created.sync_state`).toHaveLength(0)
    expect(await other`SELECT ip FROM created.click_details`).toEqual([])
    transaction.release()
  })
})
