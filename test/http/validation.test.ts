import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { filterParametersOf } from '../../schema/filters.ts'
import { ListOf } from '../../schema/scalars.ts'
import { parseQuery, queryValidator } from '../../src/http/validation.ts'
import { ProbeQuery } from './probe.ts'

const validate = queryValidator(ProbeQuery)

/** @returns the typed parameters of a query string, or the code and parameter of its error */
function read(text: string): unknown {
  const result = validate(parseQuery(text))
  return 'value' in result ? result.value : [result.error.code, result.error.details.param]
}

describe('query parameters', () => {
  it('converts parameters to typed values and adds defaults', () => {
    expect(read('group_by=day')).toEqual({ group_by: 'day', limit: 50 })
    expect(read('group_by=day&limit=7&converted=false&campaign_id=a.b:c-d_1&q=%20x%20')).toEqual({
      group_by: 'day',
      limit: 7,
      converted: false,
      campaign_id: 'a.b:c-d_1',
      q: ' x ',
    })
  })

  it('joins a repeated parameter that is a list by commas, in its order, and rejects others', () => {
    const schema = Type.Object({
      group_by: ListOf(['campaign', 'day']),
      ...filterParametersOf(['country', 'sub1'], 'clicks'),
      id: Type.Optional(Type.String()),
    })
    const validateLists = queryValidator(schema)
    const readLists = (text: string) => {
      const result = validateLists(parseQuery(text))
      return 'value' in result ? result.value : [result.error.code, result.error.details.param]
    }
    expect(readLists('group_by=day&country=DE&group_by=campaign&country=AT,CH&sub1=!a&sub1=!b')).toEqual({
      group_by: 'day,campaign',
      country: 'DE,AT,CH',
      sub1: '!a,!b',
    })
    expect(readLists('group_by=day&group_by=x')).toEqual(['invalid_group_by', 'group_by'])
    expect(readLists('group_by=day&country=DE&country=')).toEqual(['invalid_country', 'country'])
    expect(readLists('group_by=day&country=%FF&country=DE')).toEqual(['invalid_country', 'country'])
    expect(readLists('group_by=day&id=1&id=2')).toEqual(['invalid_id', 'id'])
  })

  it('decodes a plus as a space, and percent-encoded UTF-8', () => {
    expect(read('group_by=day&q=a+b')).toMatchObject({ q: 'a b' })
    expect(read('group_by=day&q=%C3%A9t%C3%A9')).toMatchObject({ q: 'été' })
  })

  it('rejects an unknown parameter by name, before all others', () => {
    expect(read('group_by=day&campain_id=x')).toEqual(['unknown_parameter', 'campain_id'])
    expect(read('limit=x&other=1')).toEqual(['unknown_parameter', 'other'])
    for (const name of ['__proto__', 'constructor', 'toString', 'Limit', 'limit ', 'limit[]', ''])
      expect(read(`group_by=day&${encodeURIComponent(name)}=1`)).toEqual(['unknown_parameter', name])
  })

  it('rejects a parameter with one sentence that says what is allowed', () => {
    const messageOf = (text: string) => {
      const result = validate(parseQuery(text))
      return 'error' in result ? result.error.message : ''
    }
    expect(messageOf('group_by=day&limit=0')).toBe('limit must be a whole number from 1 to 200.')
    expect(messageOf('')).toBe('group_by is required: one of campaign, day.')
    expect(messageOf('group_by=x')).toBe('group_by must be one of campaign, day.')
    expect(messageOf('group_by=day&converted=1')).toBe('converted must be true or false.')
    expect(messageOf('group_by=day&campaign_id=%20')).toBe('campaign_id must be 1 to 64 letters, digits and _ . : -.')
    expect(messageOf('group_by=day&q=a')).toBe('q must be 2 to 5 characters without U+0000.')
    for (const [given, known] of [
      ['Limit', 'limit'],
      ['groupBy', 'group_by'],
      ['CampaignID', 'campaign_id'],
      ['campain_id', 'campaign_id'],
      ['cursors', 'cursor'],
      ['curzor', 'cursor'],
    ])
      expect(messageOf(`${given}=1`)).toBe(`Unknown parameter "${given}"; this endpoint has ${known}.`)
    expect(messageOf('nope=1')).toBe(
      'Unknown parameter "nope"; this endpoint has limit, cursor, group_by, converted, campaign_id, q.',
    )
  })

  it('supports only schemas that a query string can express', () => {
    expect(() => queryValidator(Type.Object({ deep: Type.Object({}) }))).toThrow('deep')
  })
})
