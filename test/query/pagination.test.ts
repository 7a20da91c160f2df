import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planJourney } from '../../src/api/journeys/plan.ts'
import { parseEventKey } from '../../src/query/eventKey.ts'
import { planList } from '../../src/query/listPlan.ts'
import { fingerprint, parseCursor, writeCursor } from '../../src/query/pagination.ts'
import { callerOf } from '../kit/accounts.ts'

const boundTo = fingerprint('acme', 'clicks', { campaign_id: 'k1' })
const invalidCursor = expect.objectContaining({ code: 'invalid_cursor' })

describe('a cursor', () => {
  it('is rejected with other filters, for another list and for another account', () => {
    const cursor = writeCursor({ atMs: 1, id: 'a' }, boundTo)
    for (const other of [
      fingerprint('acme', 'clicks', {}),
      fingerprint('acme', 'clicks', { campaign_id: 'k2' }),
      fingerprint('acme', 'conversions', { campaign_id: 'k1' }),
      fingerprint('other', 'clicks', { campaign_id: 'k1' }),
    ])
      expect(() => parseCursor(cursor, other)).toThrow(invalidCursor)
  })

  it('does not depend on the order of the filters', () => {
    expect(fingerprint('a', 'l', { x: 1, y: 2 })).toBe(fingerprint('a', 'l', { y: 2, x: 1, z: undefined }))
  })

  it('is rejected when it is malformed or forged', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => parseCursor(text, boundTo)).toThrow(invalidCursor)
        expect(() => parseCursor(Buffer.from(text).toString('base64url'), boundTo)).toThrow(invalidCursor)
      }),
    )
    const forged = (key: unknown[]) => Buffer.from(JSON.stringify([boundTo, ...key])).toString('base64url')
    for (const key of [
      [1],
      ['1', 'a'],
      [1.5, 'a'],
      [1e300, 'a'],
      [1, 5],
      [9e15, 'a'],
      [null, null],
      [-62_135_596_800_001, 'a'],
    ])
      expect(() => parseCursor(forged(key), boundTo)).toThrow(invalidCursor)
  })
})

describe('a cursor of a list with days', () => {
  const noonMs = Date.UTC(2026, 10, 21, 12)
  const planOf = (cursor: string | undefined, days = 7) => {
    const query = { days, tz: 'Asia/Kathmandu', ...(cursor !== undefined && { cursor }) }
    return planList('clicks', query, callerOf('acme'), noonMs)
  }

  it('is rejected when it is malformed, forged or of another range', () => {
    const { boundTo: bound, range } = planOf(undefined)
    const [ofFilters, end] = bound.split('-')
    const texts = [0, 1, Number(end) - 1, 9_999_999_999_999, '', '-1', '1e12', 'x'].map((ms) => `${ofFilters}-${ms}`)
    const forged: unknown[] = [...texts, ofFilters, {}, [bound, bound], { toString: 1 }, null, bound.replace(/^./, 'x')]
    for (const given of forged) {
      const parts = Buffer.from(JSON.stringify([given, 1, 'a'])).toString('base64url')
      for (const cursor of [parts, `${typeof given === 'string' ? given : ''}.1.a`])
        expect(() => planOf(cursor), cursor).toThrow(invalidCursor)
    }
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        for (const cursor of [text, Buffer.from(text).toString('base64url')])
          expect(() => planOf(cursor)).toThrow(invalidCursor)
      }),
    )
    expect(() => planOf(`${bound}.1.a`, 8)).toThrow(invalidCursor)
    expect(planOf(`${bound}.1.a`)).toMatchObject({ range, after: { atMs: 1, id: 'a' } })
  })
})

describe('the id in a cursor', () => {
  const key = (id: string) => ({ atMs: 1, id })

  it('of a list of events has an origin and a generation', () => {
    expect(parseEventKey(key('server:4294967295:a:b'))).toMatchObject({ generation: 4_294_967_295, id: 'a:b' })
    for (const id of ['x', 'server:1', 'pixel:0:a', 'server:4294967296:a', 'server:9999999999:a'])
      expect(() => parseEventKey(key(id)), id).toThrow(invalidCursor)
  })

  it('of a journey has the kind of the row', () => {
    const of = { visitor_id: 'v1' }
    const journey = fingerprint('acme', 'journeys', of)
    const afterOf = (id: string) =>
      planJourney({ ...of, cursor: writeCursor(key(id), journey) }, callerOf('acme'), 1).after
    expect(afterOf('click:z')).toMatchObject({ kind: 'click', id: 'z' })
    expect(afterOf('event:browser:0:z')).toMatchObject({ kind: 'event', id: 'browser:0:z' })
    for (const id of ['x', 'visit:a', 'event:a', 'event:server:a', 'event:pixel:0:a', 'click:'])
      expect(() => afterOf(id), id).toThrow(invalidCursor)
  })
})
