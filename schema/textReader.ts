import type { TSchema } from '@sinclair/typebox'
import { propertyPattern } from './dimensions.ts'
import { eventNamesPattern } from './eventList.ts'
import { funnelStepsPattern, funnelWindowPattern } from './funnel.ts'
import { namedMetricPattern, namedSortPattern } from './metrics.ts'
import { datePattern, instantPattern, momentPattern } from './range.ts'
import { eventIdPattern, idPattern } from './scalars.ts'
import { isLonger } from './textLength.ts'

export interface TextReader {
  /** Completes "… must be". */
  readonly allowed: string
  /** @returns the typed value; undefined for an invalid text */
  read(text: string): unknown
}

/**
 * Creates the reader of a value from its schema: an integer, a boolean, a string, a literal, an `enum` or a list.
 * @param name for the error
 * @throws Error when the schema has another type
 */
export function textReaderOf(name: string, schema: TSchema): TextReader {
  const literals: readonly string[] | undefined = schema.enum ?? (schema.const && [schema.const])
  if (literals) {
    return {
      allowed: literals.length === 1 ? `${literals[0]}` : `one of ${literals.join(', ')}`,
      read: (text) => (literals.includes(text) ? text : undefined),
    }
  }
  if (schema.anyOf) {
    const readers: TextReader[] = schema.anyOf.map((one: TSchema) => textReaderOf(name, one))
    return {
      allowed: readers.map(({ allowed }) => allowed).join(', or '),
      read: (text) => readers.map((reader) => reader.read(text)).find((value) => value !== undefined),
    }
  }
  if (schema.type === 'boolean') {
    const read = (text: string) => (/^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined)
    return { allowed: 'true or false', read }
  }
  if (schema.type === 'array') return listReader(schema)
  if (schema.type === 'integer') return integerReader(schema)
  if (schema.type === 'string') return stringReader(schema)
  throw new Error(`A text cannot express the schema of ${name}.`)
}

function integerReader({ minimum, maximum }: TSchema): TextReader {
  return {
    allowed: `a whole number from ${minimum} to ${maximum}`,
    read: (text) => {
      const value = Number(text)
      return /^-?\d{1,16}$/.test(text) && value >= minimum && value <= maximum ? value : undefined
    },
  }
}

const patternTexts: Record<string, string> = {
  [namedMetricPattern]: 'events:<name> or eventVisitors:<name>',
  [namedSortPattern]: 'such a key of events:<name> or eventVisitors:<name>',
  [propertyPattern]: 'property:<name>',
  [eventNamesPattern]: 'one or more event names, separated by commas; a name has up to 64 letters, digits and _',
  [funnelStepsPattern]: 'one to eight steps, separated by commas: event names, click, conversion',
  [funnelWindowPattern]: 'a number of hours or days, 1h to 30d',
  [idPattern]: '1 to 64 letters, digits and _ . : -',
  [eventIdPattern]: '1 to 128 letters, digits and _ . : -',
  [datePattern]: 'a date such as 2026-11-01',
  [instantPattern]: 'a date such as 2026-11-01, or a timestamp with UTC offset such as 2026-11-01T00:00:00Z',
  [momentPattern]:
    'a date such as 2026-11-01, a local time such as 2026-11-01T14:00, or a timestamp such as 2026-11-01T14:00:00Z',
}

/** Reads a list of names, which stays one text. */
function listReader({ items, maxItems = Number.POSITIVE_INFINITY }: TSchema): TextReader {
  const item = textReaderOf('an item', items)
  return {
    allowed: `one ${maxItems === 3 ? 'to three' : 'or more'} ${item.allowed.replace('one ', '')}, separated by commas`,
    read(text) {
      const given = text.split(',')
      return given.length <= maxItems && given.every((name) => item.read(name) !== undefined) ? text : undefined
    },
  }
}

function stringReader({ pattern, minLength = 1, maxLength }: TSchema): TextReader {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const length = maxLength === undefined ? `at least ${minLength}` : `${minLength} to ${maxLength}`
  return {
    allowed:
      pattern === undefined
        ? `${length} characters without U+0000`
        : (patternTexts[pattern] ?? `text that matches ${pattern}`),
    read: (text) => {
      // Postgres cannot store U+0000.
      const isValid = !text.includes('\0') && text.length >= minLength && (expression?.test(text) ?? true)
      return isValid && (maxLength === undefined || !isLonger(text, maxLength)) ? text : undefined
    },
  }
}
