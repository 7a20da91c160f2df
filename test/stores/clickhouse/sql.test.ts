import { describe, expect, it } from 'vitest'
import { ch, day, identifier, instant, render, text } from '../../../src/stores/clickhouse/sql.ts'

describe('a fragment of SQL', () => {
  it('passes values as typed parameters, numbered in reading order through nested fragments, shared values once', () => {
    const inner = ch`id = ${text("x' OR 1=1 --")}`
    expect(render(ch`WHERE a = ${text('a')} AND (${inner}) AND at < ${instant(0)} AND ${inner}`)).toEqual({
      text: "WHERE a = {p1:String} AND (id = {p2:String}) AND at < {p3:DateTime64(3, 'UTC')} AND id = {p2:String}",
      params: { p1: 'a', p2: "x' OR 1=1 --", p3: '1970-01-01 00:00:00.000' },
    })
  })

  it('limits moments to the years that a column can store', () => {
    expect(instant(-1e15).value).toBe('1970-01-01 00:00:00.000')
    expect(instant(8.64e15).value).toBe('2106-01-01 00:00:00.000')
    expect(day(8.64e15).value).toBe('2106-01-01')
  })

  it('accepts only names of the schema as identifiers', () => {
    expect(() => identifier('a; DROP TABLE clicks')).toThrow()
    expect(() => identifier('a`b')).toThrow()
  })
})
