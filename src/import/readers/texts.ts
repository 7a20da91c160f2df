import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { eventNamePattern } from '../../../schema/event.ts'
import { eventIdPattern, idLengthMax, idPattern } from '../../../schema/scalars.ts'
import { textOf } from '../../query/exactJson.ts'
import type { Note } from './amounts.ts'
import type { Input } from './mapping.ts'
import { hashing, InvalidValue, RowError, replacing } from './rowError.ts'

/**
 * Validates the value of a field and converts it to its stored form. The value is not absent: not null, not missing, not the empty string.
 * @param input how the file writes values
 * @param note called if the value loses digits
 * @param isCell whether the value is the text of a CSV cell instead of a JSON value
 * @throws RowError with a message that follows the field's name: `must be …`
 */
export type FieldType<Value> = (value: unknown, input?: Partial<Input>, note?: Note, isCell?: boolean) => Value

const textMax = 8_192

/** @throws RowError for a number with an exponent: programs write ids of many digits so, without the last ones */
function idTextOf(value: unknown, isCell = false): string | undefined {
  const given = textOf(value)
  // Networks keep spreadsheets from reading an id as a number: ="401", '401, or a tab after it.
  const text = isCell ? given?.trim().replace(/^="(.*)"$|^'/, '$1') : given
  if (text && (typeof value === 'string' ? /^\d([.,]\d+)?e\+\d+$/i : /e/i).test(text))
    throw new RowError('must be text or all digits of a number, not a number with an exponent')
  return text
}

/** @throws RowError when it is not text that both databases can store */
export function storableText(value: unknown): string {
  const text = textOf(value)
  if (text === undefined) throw new RowError('must be text')
  if (text.length > textMax) throw new RowError(`must have at most ${textMax} characters`)
  if (text.includes('\0')) throw new RowError('must not contain the character U+0000')
  if (!text.isWellFormed()) throw new RowError('must not contain an unpaired surrogate')
  return text
}

function matching(pattern: string, message: string, remedy: InvalidValue['remedy']): FieldType<string> {
  const test = new RegExp(pattern)
  return (value, { hashIds, hashLongIds } = {}, _note, isCell) => {
    const text = idTextOf(value, isCell)
    if (text !== undefined && test.test(text)) return text
    const isHashed = remedy === hashing && (hashIds || (hashLongIds && text && text.length > idLengthMax))
    // TRAP: the UTF-8 bytes of all unpaired surrogates are equal, so that two ids would become one; their rows are rejected.
    if (!isHashed || !text?.isWellFormed()) throw new InvalidValue(message, remedy)
    return createHash('sha256').update(text).digest('hex')
  }
}

export function oneOf<Word extends string>(known: readonly Word[]): FieldType<Word> {
  return (value) => {
    if (!known.includes(value as Word)) throw new InvalidValue(`must be one of ${known.join(', ')}`, replacing)
    return value as Word
  }
}

export const id = matching(idPattern, 'must be text of 1 to 64 letters, digits and _ . : -', hashing)
export const eventId = matching(eventIdPattern, 'must be text of 1 to 128 letters, digits and _ . : -', hashing)
export const eventName = matching(
  eventNamePattern,
  'must be text of 1 to 64 letters, digits and _, beginning with a letter',
  replacing,
)
export const country = matching('^[A-Z]{2}$', 'must be two uppercase letters (ISO 3166-1 alpha-2)', replacing)
export const currency = matching('^[A-Z]{3}$', 'must be three uppercase letters (ISO 4217)', replacing)

/** Anonymises an address: the last octet (IPv4) or the last 80 bits (IPv6) are set to zero. */
export function anonymousIp(value: unknown): string {
  if (typeof value === 'string' && isIPv4(value)) return anonymizeIPv4(value)
  if (typeof value === 'string' && isIPv6(value)) return anonymizeIPv6(value)
  throw new RowError('must be an IPv4 or IPv6 address')
}

const anonymizeIPv4 = (address: string) => `${address.slice(0, address.lastIndexOf('.'))}.0`

/** @returns the shortest form without a zone; an IPv4-mapped address is anonymised as IPv4 */
function anonymizeIPv6(address: string): string {
  const parsed = ipaddr.IPv6.parse(address.replace(/%.*/, ''))
  if (parsed.isIPv4MappedAddress()) return anonymizeIPv4(parsed.toIPv4Address().toString())
  return new ipaddr.IPv6([...parsed.parts.slice(0, 3), 0, 0, 0, 0, 0]).toString()
}
