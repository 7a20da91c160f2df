import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { jsonInput } from '../../src/import/readers/mapping.ts'
import { costReader } from '../../src/import/resources/cost.ts'
import { localInstantsOf } from '../../src/query/timeZone.ts'
import { storableTimes } from '../../src/stores/clickhouse/sql.ts'

const nowMs = Date.UTC(2026, 10, 21)
const read = (fields: object, zone = 'UTC') =>
  costReader(
    { id: 'acme', currency: 'EUR' },
    false,
    nowMs,
  )({ cost: 1, ...fields } as never, { ...jsonInput, localInstant: localInstantsOf(zone, storableTimes) })
const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)

it('the id of a cost is 32 digits of the SHA-256 over its time as the file has it and its dimensions, in their order', () => {
  const fields = { country: 'DE', campaignId: 'k', spentAt: '2026-11-20', subIds: { sub10: 'z', sub1: 'a' } }
  const expected = digest([
    '2026-11-20T00:00:00.000',
    [
      ['campaignId', 'k'],
      ['country', 'DE'],
      ['sub1', 'a'],
      ['sub10', 'z'],
    ],
  ])
  expect(read(fields)).toMatchObject({ id: expected, updatedAt: nowMs, currency: 'EUR' })
  const others = [
    { spentAt: '2026-11-20 00:00' },
    { cost: 2 },
    { currency: 'USD', costBase: 3 },
    { updatedAt: '2020-01-01' },
  ]
  for (const other of others) expect([other, read({ ...fields, ...other }).id]).toEqual([other, expected])
  const berlin = read(fields, 'Europe/Berlin')
  expect([berlin.id, berlin.spentAt]).toEqual([expected, Date.UTC(2026, 10, 19, 23)])
  const own = [
    { campaignId: 'K' },
    { campaignId: null },
    { os: 'x' },
    { spentAt: '2026-11-20T00:00:00Z' },
    { id: 'own' },
  ]
  expect(new Set([expected, ...own.map((other) => read({ ...fields, ...other }).id)]).size).toBe(own.length + 1)
})

it('the cost 0, which takes a row back, needs no rate', () => {
  expect(read({ spentAt: '2026-11-20', cost: 0, currency: 'USD' })).toMatchObject({ currency: 'USD', costBase: 0n })
})

it.each([
  [{}, 'spentAt: is required'],
  [{ spentAt: '2026-11-20', cost: '' }, 'cost: is required'],
  [{ spentAt: 'yesterday' }, 'spentAt: must be a time such as'],
  [{ spentAt: '2026-11-20', clickId: 'c' }, 'clickId: is not a field of costs'],
  [{ spentAt: '2026-11-20', currency: 'USD' }, 'costBase: is required, or exchangeRate'],
])('a cost %o is rejected', (fields, reason) => {
  expect(() => read(fields)).toThrow(reason)
})
