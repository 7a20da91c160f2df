import { describe, expect, it } from 'vitest'
import { copiedRanges, type EventPart } from '../../../src/api/funnels/copies.ts'

const dayMs = 86_400_000
const hour = (number: number) => Date.UTC(2026, 10, 1) + number * 3_600_000

function part(first: number, last: number): EventPart {
  return { part: `${first}_${last}`, events: 1, withoutVisitor: 0, firstMs: hour(first), lastMs: hour(last) }
}

describe('the times at which events with copies were stored', () => {
  it.each([
    ['are none without parts', [], []],
    ['are none with one part', [part(0, 720)], []],
    ['are none if parts are stored more than a day apart', [part(0, 100), part(125, 200)], []],
  ])('%s', (_, parts, expected) => expect(copiedRanges(parts)).toEqual(expected))

  it('are the last day of a part and the first one of the next', () => {
    expect(copiedRanges([part(0, 100), part(100, 200)])).toEqual([
      { fromMs: hour(100) - dayMs, untilMs: hour(100) + dayMs + 1 },
    ])
  })

  it('include both rows that are exactly a day apart', () => {
    expect(copiedRanges([part(0, 100), part(124, 200)])).toEqual([
      { fromMs: hour(100), untilMs: hour(100) + 1 },
      { fromMs: hour(124), untilMs: hour(124) + 1 },
    ])
  })

  it('are all times of a part that others surround', () => {
    expect(copiedRanges([part(0, 400), part(200, 210)])).toEqual([
      { fromMs: hour(200) - dayMs, untilMs: hour(210) + dayMs + 1 },
    ])
  })

  it('are the same in any order of the parts', () => {
    const parts = [part(0, 100), part(90, 200), part(240, 300), part(310, 320)]
    expect(copiedRanges(parts.toReversed())).toEqual(copiedRanges(parts))
    expect(copiedRanges(parts)).toEqual([
      { fromMs: hour(66), untilMs: hour(124) + 1 },
      { fromMs: hour(286), untilMs: hour(300) + 1 },
      { fromMs: hour(310), untilMs: hour(320) + 1 },
    ])
  })
})
