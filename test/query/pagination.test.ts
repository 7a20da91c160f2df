import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventIdPattern } from '../../schema/scalars.ts'
import { fingerprint, readCursor, toPage, writeCursor } from '../../src/query/pagination.ts'

const boundTo = fingerprint('acme', 'clicks', { campaign_id: 'k1' })
const invalidCursor = expect.objectContaining({ code: 'invalid_cursor' })

describe('a cursor', () => {
  it('is decoded to the key that it was made of', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.stringMatching(new RegExp(eventIdPattern)), (atMs, id) => {
        expect(readCursor(writeCursor({ atMs, id }, boundTo), boundTo)).toEqual({ atMs, id })
      }),
    )
  })

  it('is rejected with other filters, for another list and for another account', () => {
    const cursor = writeCursor({ atMs: 1, id: 'a' }, boundTo)
    for (const other of [
      fingerprint('acme', 'clicks', {}),
      fingerprint('acme', 'clicks', { campaign_id: 'k2' }),
      fingerprint('acme', 'conversions', { campaign_id: 'k1' }),
      fingerprint('other', 'clicks', { campaign_id: 'k1' }),
    ]) {
      expect(() => readCursor(cursor, other)).toThrow(invalidCursor)
    }
  })

  it('does not depend on the order of the filters', () => {
    expect(fingerprint('a', 'l', { x: 1, y: 2 })).toBe(fingerprint('a', 'l', { y: 2, x: 1, z: undefined }))
  })

  it('is rejected when it is malformed or forged', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => readCursor(text, boundTo)).toThrow(invalidCursor)
        expect(() => readCursor(Buffer.from(text).toString('base64url'), boundTo)).toThrow(invalidCursor)
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
    ]) {
      expect(() => readCursor(forged(key), boundTo)).toThrow(invalidCursor)
    }
  })
})

describe('a page', () => {
  it('has a cursor if and only if there are more rows', () => {
    const rows = [3, 2, 1].map((atMs) => ({ atMs, id: 'x' }))
    expect(toPage(rows, 3, (row) => row, boundTo)).toEqual({ data: rows, nextCursor: null, hasMore: false })
    const page = toPage(rows, 2, (row) => row, boundTo)
    expect(page).toMatchObject({ data: rows.slice(0, 2), hasMore: true })
    expect(readCursor(page.nextCursor ?? '', boundTo)).toEqual(rows[1])
  })
})
