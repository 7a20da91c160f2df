import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../../src/packages/sync/postgres/target.ts'
import { changing } from '../../../src/packages/sync/resources.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../kit/postgresServer.ts'

describe.skipIf(!hasPostgres())('a copy on a PostgreSQL server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.close())

  it('stores rows with their state or not at all, and continues after its connection broke', async () => {
    const url = server.url('tributary')
    const target = await openPostgres(url, 'tributary')
    const other = postgres(url, { max: 2, onnotice() {} })
    const [clicks] = changing
    if (!clicks) throw new Error('no resource')
    const before = await target.readState(clicks)
    const after = { ...before, cursor: 'c1' }
    const moment = '2026-11-20T10:00:00.000Z'
    const row = { id: 'c1', clickedAt: moment, storedAt: moment, isBot: false, isTest: false, subIds: { sub1: 's' } }

    const lock = await other.reserve()
    await lock`BEGIN`
    await lock`LOCK TABLE tributary.clicks`
    const storing = target.store(clicks, [row], before, after)
    storing.catch(() => {})
    const waiting = () => other`
      SELECT pid FROM pg_stat_activity WHERE application_name = 'tributary-sync' AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1)
    await other`SELECT pg_terminate_backend(${(await waiting())[0]?.pid})`
    await expect(storing).rejects.toThrow()
    await lock`COMMIT`
    lock.release()

    // The driver rejects queries until it has closed the connection.
    await expect.poll(() => target.readState(clicks), { timeout: 20_000 }).toEqual(before)
    await target.store(clicks, [row], before, after)
    expect(await target.readState(clicks)).toEqual(after)
    await expect(target.store(clicks, [{ ...row, id: 'c2' }], before, after)).rejects.toThrow('another tributary-sync')
    expect(await other`SELECT id, sub1, stored_at FROM tributary.clicks`).toEqual([
      { id: 'c1', sub1: 's', stored_at: new Date(moment) },
    ])
    await other.end()
    await target.close()
  })

  it('continues after the last statement of a killed process, also if that is still running', async () => {
    const url = server.url('tributary')
    const target = await openPostgres(url, 'continued')
    const other = postgres(url, { max: 2, onnotice() {} })
    const [clicks] = changing
    if (!clicks) throw new Error('no resource')
    await other`INSERT INTO continued.sync_state (resource, cursor) VALUES ('clicks', 'first')`
    const killed = await other.reserve()
    await killed`BEGIN`
    await killed`UPDATE continued.sync_state SET cursor = 'last'`
    const read = target.readState(clicks)
    const waiting = () => other`
      SELECT FROM pg_stat_activity WHERE application_name = 'tributary-sync' AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1)
    await killed`COMMIT`
    expect(await read).toMatchObject({ cursor: 'last' })
    killed.release()
    await other.end()
    await target.close()
  })

  it('is created as a whole or not at all, and when it exists, does not wait for its readers', async () => {
    const url = server.url('tributary')
    const other = postgres(url, { max: 2, onnotice() {} })
    const transaction = await other.reserve()
    await transaction`BEGIN`
    await transaction`CREATE SCHEMA created`
    const opening = openPostgres(url, 'created')
    opening.catch(() => {})
    const waiting = () => other`
      SELECT pid FROM pg_stat_activity WHERE application_name = 'tributary-sync' AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1)
    await other`SELECT pg_terminate_backend(${(await waiting())[0]?.pid})`
    await expect(opening).rejects.toThrow()
    await transaction`COMMIT`
    expect(await other`SELECT FROM information_schema.tables WHERE table_schema = 'created'`).toHaveLength(0)
    await (await openPostgres(url, 'created')).close()

    await transaction`BEGIN`
    await transaction`SELECT FROM created.click_details`
    await (await openPostgres(url, 'created')).close()
    await transaction`COMMIT`

    await other`ALTER TABLE created.clicks DROP COLUMN ip CASCADE`
    await other`INSERT INTO created.sync_state (resource, since) VALUES ('clicks', 'x'), ('events', 'x')`
    await (await openPostgres(url, 'created')).close()
    expect(await other`SELECT resource FROM created.sync_state`).toEqual([{ resource: 'events' }])
    expect(await other`SELECT ip FROM created.click_details`).toEqual([])
    transaction.release()
    await other.end()
  })
})
