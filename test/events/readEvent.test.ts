import { expect, it } from 'vitest'
import { parseEvents } from '../../src/events/inexactNumbers.ts'
import { readEvent } from '../../src/events/validate.ts'
import { testNowMs } from '../kit/app.ts'

/** @returns the row of an event @throws the Problem of an invalid event */
function read(fields: object) {
  const event = { click_id: 'c1', event_name: 'paid', ...fields }
  const result = readEvent(event, { accountId: 'acme', clickAllowance: 1 }, testNowMs)
  if (!('row' in result)) throw result.outcome
  return result.row
}
const kept = (properties: unknown) => read({ properties }).properties

// What the random bodies of test/api/events/model.test.ts seldom or never have.

it('currency is stored when it is an uppercase ISO 4217 code, else ignored', () => {
  for (const code of ['XCG', 'ZWG', 'CLF', 'XAU', 'XXX', 'VED']) expect(read({ currency: code }).currency).toBe(code)
  for (const currency of ['US', 'USDT', ' USD', 'DEM', ['USD']]) expect(read({ currency }).currency).toBe('')
})

it('an id has up to 64 letters, digits and _ . : -, an event_id up to 128', () => {
  for (const id of ['0', 'A_b.c:d-e', 'x'.repeat(64)]) expect(read({ click_id: id }).clickId).toBe(id)
  for (const id of ['0', 'order:1042.paid-x_y', 'x'.repeat(128)]) expect(read({ event_id: id }).id).toBe(id)
})

it('properties have the first 20 valid keys', () => {
  const given = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}`, n % 5 === 0 ? null : n]))
  const expected = Object.entries(given).filter(([, value]) => value !== null)
  expect(Object.entries(JSON.parse(kept(given)))).toEqual(expected.slice(0, 20))
})

it('properties are dropped when their nested values take more than 8 KiB, or are too deep to be written', () => {
  const nested = (levels: number) => ({ a: 1, deep: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) })
  for (const [levels, stored] of [[1_000, '{"a":1}'], [4_096, ''], [30_000, '']] as const) // biome-ignore format: pairs
    expect(kept(nested(levels))).toBe(stored)
})

it('properties have no unpaired surrogates, which UTF-8 cannot represent', () => {
  expect(kept(JSON.parse('{"a\\ud800":"\\udc00x","b":"\\ud83d\\ude00"}'))).toBe('{"a\ufffd":"\ufffdx","b":"😀"}')
})

it('120,000 short numbers with an exponent take at most 6 times the CPU time of JSON.parse', () => {
  const body = `{"a":[${Array(120_000).fill('1.5e1').join()}],"b":1e1}`
  // The system measures CPU time too coarsely for one call.
  const cost = (read: (text: string) => unknown) => {
    const before = process.cpuUsage()
    for (let n = 0; n < 20; n++) read(body)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  expect(cost((text) => parseEvents(text, JSON.parse))).toBeLessThan(6 * cost(JSON.parse))
})
