// @module-tag postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { listExpiringKeys, warnOfExpiringKeys } from '../../src/accounts/expiringKeys.ts'
import { findKey, revokeKey, rotateKey } from '../../src/accounts/manageKeys.ts'
import { addGauges } from '../../src/api/health/gauges.ts'
import { openMetrics } from '../../src/http/prometheusMetrics.ts'
import { expectOneLine, runHere, runJson } from '../cli/runCommand.ts'
import { makeKey } from '../kit/accounts.ts'
import { testNowMs, useTestApp } from '../kit/app.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const server = useTestApp()

beforeAll(async () => {
  await server.account('acme')
})

function keyOf(accountId: string, expiresAtMs?: number) {
  const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs)
  return makeKey(server.stores, accountId, ['read:clicks', 'write:events'], { name: 'BI', expiresAt })
}

const rotate = (id: string, graceMs: number, nowMs = testNowMs) => rotateKey(server.stores.postgres, id, graceMs, nowMs)

describe('a rotated key', () => {
  it('is valid until the end of the grace period; the new key has its name and scopes', async () => {
    const old = await keyOf('acme')
    const rotation = await rotate(old.row.id, 24 * hourMs)
    expect(rotation?.row).toMatchObject({ accountId: 'acme', name: 'BI', scopes: old.row.scopes, expiresAt: null })
    const statuses = async () =>
      await Promise.all([old.key, rotation?.key].map(async (key) => (await server.get('/clicks', key)).statusCode))
    server.setNow(testNowMs + 24 * hourMs - 1)
    expect(await statuses()).toEqual([200, 200])
    server.setNow(testNowMs + 24 * hourMs)
    expect(await statuses()).toEqual([401, 200])
    server.setNow(testNowMs)
  })

  it('gives the new key its own lifetime, and never ends later than before', async () => {
    const old = await keyOf('acme', testNowMs + 12 * hourMs)
    await server.stores.postgres`
      UPDATE api_keys SET created_at = ${new Date(testNowMs - 18 * hourMs)} WHERE id = ${old.row.id}`
    const rotation = await rotate(old.row.id, 24 * hourMs)
    expect(rotation?.previousExpiresAt.getTime()).toBe(testNowMs + 12 * hourMs)
    expect(rotation?.row.expiresAt?.getTime()).toBe(testNowMs + 30 * hourMs)
  })

  it('is replaced once, also by concurrent commands', async () => {
    const { row } = await keyOf('acme')
    const rotations = await Promise.all([1, 2, 3].map(() => rotate(row.id, hourMs)))
    const [created, ...others] = rotations.filter((rotation) => rotation !== undefined)
    expect(others).toEqual([])
    expect((await findKey(server.stores.postgres, row.id))?.replacedBy).toBe(created?.row.id)
  })

  it('is refused when it is revoked, expired, replaced or missing, with one line that says so', async () => {
    const { postgres, environment } = server.stores
    const [revoked, expired, replaced] = [await keyOf('acme'), await keyOf('acme', 1_000), await keyOf('acme')]
    await revokeKey(postgres, revoked.row.id)
    await rotate(replaced.row.id, 365 * 10 * dayMs)
    for (const [id, line] of [
      [revoked.row.id, /^error: key \S+ was revoked at \S+Z; create a new key\.\n$/],
      [expired.row.id, /^error: key \S+ expired at 1970\S+Z; create a new key\.\n$/],
      [replaced.row.id, /^error: key \S+ has already been replaced by key \S+; rotate that one instead\.\n$/],
      ['missing', /^error: no such key: missing in [^\n]+\n$/],
    ] as const)
      expectOneLine(await runHere(['key', 'rotate', '--id', id, '--grace', '24h'], environment), 1, line)
  })

  it('of a part is replaced by a key of the same part, and an earlier version cannot replace it', async () => {
    const { postgres } = server.stores
    const view = { filters: { sub1: ['aff42'] }, hidden: ['cost'] }
    const { row } = await makeKey(server.stores, 'acme', ['read:clicks'], { view })
    const byEarlier = postgres`
      WITH created AS (
        INSERT INTO api_keys (id, account_id, name, hash, prefix, scopes)
        SELECT 'whole', account_id, name, sha256('x'), 'trb_live_1234', scopes FROM api_keys WHERE id = ${row.id})
      UPDATE api_keys SET replaced_by = 'whole' WHERE id = ${row.id}`
    await expect(byEarlier).rejects.toMatchObject({ code: '23503' })
    const rotated = await rotate(row.id, hourMs)
    expect(rotated).toMatchObject({ key: expect.stringMatching(/^trb_part_/), row: { view } })
    expect((await server.get('/key', rotated?.key)).json()).toMatchObject({ filters: view.filters })
    const ofLater = await makeKey(server.stores, 'acme', ['read:clicks'], { view: { ...view, hidden: ['margin'] } })
    expect((await server.get('/key', ofLater.key)).json().error).toBe('invalid_api_key')
  })

  it('is printed once with the end of the old key, and recorded without the secret', async () => {
    const { environment } = server.stores
    const { row } = await keyOf('acme')
    const printed = await runJson(['key', 'rotate', '--id', row.id, '--grace', '0h'], environment)
    expect(printed).toMatchObject({ replaces: row.id, scopes: row.scopes, expiresAt: null })
    expect(Date.parse(printed.previousExpiresAt)).toBeLessThanOrEqual(Date.now())
    const { entries } = await runJson(['audit', 'list', '--account', 'acme'], environment)
    expect(entries.at(-1)).toMatchObject({
      action: 'key.rotate',
      details: { key: printed.id, replaces: row.id, previousExpiresAt: expect.any(String) },
    })
    expect(JSON.stringify(entries)).not.toContain(printed.key)
    const wrong = ['key', 'rotate', '--id', row.id, '--grace', 'soon']
    expectOneLine(await runHere(wrong, environment), 2, /Use hours or days/)
  })
})

it('keys that expire within 7 days are found and counted in the metrics, unless they are revoked, expired or replaced', async () => {
  const { postgres } = server.stores
  await server.account('expiring')
  const soon = await keyOf('expiring', testNowMs + 7 * dayMs)
  const revoked = await keyOf('expiring', testNowMs + dayMs)
  const replaced = await keyOf('expiring', testNowMs + dayMs)
  await keyOf('expiring', testNowMs + 7 * dayMs + 1)
  await keyOf('expiring', testNowMs)
  await revokeKey(postgres, revoked.row.id)
  // The lifetime of the new key is longer than 7 days.
  await postgres`UPDATE api_keys SET created_at = ${new Date(0)} WHERE id = ${replaced.row.id}`
  await rotate(replaced.row.id, dayMs)
  const found = (await listExpiringKeys(postgres, testNowMs)).filter(({ accountId }) => accountId === 'expiring')
  expect(found.map(({ id }) => id)).toEqual([soon.row.id])
  const metrics = openMetrics()
  addGauges(metrics, server.stores, { redis: undefined, now: () => testNowMs })
  const count = (await listExpiringKeys(postgres, testNowMs)).length
  expect(await metrics.registry.metrics()).toContain(`\napi_keys_expiring ${count}\n`)
})

it('keys that expire within 7 days are reported once each, with the command that replaces them', async () => {
  const { postgres } = server.stores
  await server.account('reported')
  const first = await keyOf('reported', testNowMs + dayMs)
  const lines: string[] = []
  const warn = (line: string) => lines.push(line)
  const stop = warnOfExpiringKeys(postgres, warn, () => testNowMs, 1)
  const linesOf = (id: string) => lines.filter((line) => line.includes(id))
  await expect.poll(() => linesOf(first.row.id), { timeout: 10_000 }).toHaveLength(1)
  const second = await keyOf('reported', testNowMs + dayMs)
  await expect.poll(() => linesOf(second.row.id), { timeout: 10_000 }).toHaveLength(1)
  stop()
  expect(linesOf(first.row.id)).toEqual([
    `Key ${first.row.id} (BI) of account reported expires at ${new Date(testNowMs + dayMs).toISOString()}; replace it with: tributary key rotate --id ${first.row.id} --grace 24h.`,
  ])
})
