import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { notSet } from '../../../schema/dimensions.ts'
import { eventNamePattern, eventValueMax, propertyLimits, storableText } from '../../../schema/event.ts'
import { devices } from '../../../schema/filters.ts'
import { metadataStatuses } from '../../../schema/metadata.ts'
import { eventIdPattern, idPattern } from '../../../schema/scalars.ts'
import { type SubIdName, subIdNames } from '../../../schema/subIds.ts'
import { isLonger } from '../../../schema/textLength.ts'
import { isJsonObject, parseJson, textOf } from '../../query/exactJson.ts'
import { type DateOrder, readTimeText, type TimeText, timeForms } from '../../query/timeText.ts'
import type { ColumnKind } from '../../stores/clickhouse/columnKinds.ts'
import { storableTimes } from '../../stores/clickhouse/sql.ts'
import { entityIdFields } from '../../stores/clickhouse/tableColumns.ts'
import type { MetadataKind } from '../../stores/postgres/metadataFields.ts'
import { type Decimal, type Note, readDouble, readMoney, readRate, withNumberText } from './amounts.ts'
import { RowError } from './rowError.ts'

/** Validates the value of a field and converts it to its stored form. */
export interface FieldType<Value> {
  /**
   * Reads a value that is not absent: not null, not missing, not the empty string.
   * @param note called if the value loses digits
   * @throws RowError with a message that follows the field's name: `must be …`
   */
  read(value: unknown, note?: Note): Value
  /** Converts the text of a CSV cell to the JSON value; not needed for texts. */
  fromCell?(text: string): unknown
}

const textMax = 8_192

/** @throws RowError for a number with an exponent: programs write ids of many digits so, without the last ones */
export function idTextOf(value: unknown): string | undefined {
  const text = textOf(value)
  if (typeof value !== 'string' && text && /e/i.test(text))
    throw new RowError('must be text or all digits of a number, not a number with an exponent')
  return text
}

/** @throws RowError when it is not text that both databases can store */
function readStorableText(value: unknown): string {
  const text = textOf(value)
  if (text === undefined) throw new RowError('must be text')
  if (text.length > textMax) throw new RowError(`must have at most ${textMax} characters`)
  if (text.includes('\0')) throw new RowError('must not contain the character U+0000')
  if (!text.isWellFormed()) throw new RowError('must not contain an unpaired surrogate')
  return text
}

function matching(pattern: string, message: string): FieldType<string> {
  const test = new RegExp(pattern)
  return {
    read(value) {
      const text = idTextOf(value)
      if (text === undefined || !test.test(text)) throw new RowError(message)
      return text
    },
  }
}

export function oneOf<Word extends string>(known: readonly Word[]): FieldType<Word> {
  return {
    read(value) {
      if (!known.includes(value as Word)) throw new RowError(`must be one of ${known.join(', ')}`)
      return value as Word
    },
  }
}

const textField: FieldType<string> = { read: readStorableText }
export const id = matching(idPattern, 'must be text of 1 to 64 letters, digits and _ . : -')
export const eventId = matching(eventIdPattern, 'must be text of 1 to 128 letters, digits and _ . : -')
export const eventName = matching(
  eventNamePattern,
  'must be text of 1 to 64 letters, digits and _, beginning with a letter',
)
const country = matching('^[A-Z]{2}$', 'must be two uppercase letters (ISO 3166-1 alpha-2)')
const currency = matching('^[A-Z]{3}$', 'must be three uppercase letters (ISO 4217)')

/** How a file writes times. */
export interface TimeOptions {
  /** Of times without offset, as `localInstantsOf` returns it; undefined: they are rejected. */
  readonly localInstant?: ((localMs: number) => number) | undefined
  /** Of dates such as 11/12/2026; undefined: they are rejected. */
  readonly dateOrder?: DateOrder | undefined
  /** Whether messages name the options of an import; unless given, they do. */
  readonly namesOptions?: boolean
}

/** The type of times, which are truncated to epoch milliseconds. */
export function instantType(options: TimeOptions): FieldType<number> {
  return { read: (value, note) => toInstant(readTime(value, options), options, value, note) }
}

export const instant = instantType({})

/** The type of the time of a cost; `givenTime` is the time as the file has it: in its own zone, if it has no offset. */
export function spentAtType(options: TimeOptions): FieldType<{ spentAt: number; givenTime: string }> {
  return {
    read(value, note) {
      const time = readTime(value, options)
      const given = new Date(time.ms).toISOString()
      const givenTime = time.kind === 'instant' ? given : given.slice(0, -1)
      return { spentAt: toInstant(time, options, value, note), givenTime }
    },
  }
}

export const spentAt = spentAtType({})

function readTime(value: unknown, { dateOrder, namesOptions = true }: TimeOptions): TimeText {
  const text = textOf(value)?.trim() ?? ''
  const time = readTimeText(text, dateOrder) ?? readEpochTime(text)
  if (time) return time
  if (readTimeText(text, 'mdy') || readTimeText(text, 'dmy'))
    throw new RowError(`has day and month in an unknown order${namesOptions ? '; --date-order gives the order' : ''}`)
  throw new RowError(`must be a time such as ${timeForms}`)
}

function toInstant(time: TimeText, options: TimeOptions, value: unknown, note: Note | undefined): number {
  const { localInstant, namesOptions = true } = options
  if (time.kind !== 'instant' && !localInstant) {
    const offset = 'must have an offset, as 2026-11-21T03:00:00Z has'
    throw new RowError(namesOptions ? `${offset}, or --tz must give the time zone` : offset)
  }
  const epochMs = time.kind === 'instant' || !localInstant ? time.ms : localInstant(time.ms)
  if (epochMs < storableTimes.fromMs || epochMs >= storableTimes.untilMs)
    throw new RowError('must be between 1970-01-01 and 2105-12-31')
  if (/[1-9]/.test(time.below)) note?.('is truncated to milliseconds', value)
  return epochMs
}

/**
 * Seconds since 1970 in 10 digits, from 2001-09-09 on; milliseconds, microseconds and nanoseconds have 3, 6 and 9 more. Digits such as
 * 2026112014 are not read as the year 2034, because they are a date and an hour.
 */
const epochTime =
  /^(?!20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3]))(\d{10})(?:\.(\d{1,9})|((?:\d{3}){0,3}))$/

function readEpochTime(text: string): TimeText | undefined {
  // BigQuery writes 1.795185931123456E9; a double keeps microseconds of seconds.
  const plain = text.replace(/^\d\.\d{1,15}E9$/, (number) => `${Number(number)}`)
  const [, seconds, decimals, more = ''] = epochTime.exec(plain) ?? []
  if (seconds === undefined) return undefined
  const fraction = decimals ?? more
  return { kind: 'instant', ms: Number(seconds + fraction.slice(0, 3).padEnd(3, '0')), below: fraction.slice(3) }
}

/** An anonymised address: the last octet (IPv4) or the last 80 bits (IPv6) are set to zero. */
const ip: FieldType<string> = {
  read(value) {
    if (typeof value === 'string') {
      if (isIPv4(value)) return anonymizeIPv4(value)
      if (isIPv6(value)) return anonymizeIPv6(value)
    }
    throw new RowError('must be an IPv4 or IPv6 address')
  },
}

const anonymizeIPv4 = (address: string) => `${address.slice(0, address.lastIndexOf('.'))}.0`

/** @returns the shortest form without a zone; an IPv4-mapped address is anonymised as IPv4 */
function anonymizeIPv6(address: string): string {
  const parsed = ipaddr.IPv6.parse(address.replace(/%.*/, ''))
  if (parsed.isIPv4MappedAddress()) return anonymizeIPv4(parsed.toIPv4Address().toString())
  return new ipaddr.IPv6([...parsed.parts.slice(0, 3), 0, 0, 0, 0, 0]).toString()
}

/** Words that spreadsheets, databases and programs write, in any case. */
const booleans = new Map([
  ...['true', 't', 'yes', 'y', '1', '1.0'].map((word) => [word, true] as const),
  ...['false', 'f', 'no', 'n', '0', '0.0'].map((word) => [word, false] as const),
])

const boolean: FieldType<boolean> = {
  read(value) {
    const found = typeof value === 'boolean' ? value : booleans.get(textOf(value)?.toLowerCase() ?? '')
    if (found === undefined) throw new RowError('must be true or false')
    return found
  },
}

/** Millionths. */
const money: FieldType<bigint> = { read: readMoney }
const rate: FieldType<Decimal> = { read: readRate }

/** The value of a pixel event. Not money, so a double is precise enough. */
const signal: FieldType<number> = {
  read(value, note) {
    const number = readDouble(withNumberText(value), note)
    if (typeof number !== 'number') throw new RowError('must be a number')
    if (!(Math.abs(number) <= eventValueMax)) throw new RowError('must be between -10^12 and 10^12')
    // Converts -0 to 0, as POST /events does.
    return number + 0
  },
}

export function wholeNumber(maximum: number): FieldType<number> {
  return {
    read(value, note) {
      const number = readDouble(withNumberText(value), note)
      if (!Number.isInteger(number) || (number as number) < 0 || (number as number) > maximum) {
        throw new RowError(`must be a whole number from 0 to ${maximum}`)
      }
      return number as number
    },
  }
}

/** @throws RowError when it is not a JSON object */
function readObject(value: unknown): Record<string, unknown> {
  if (!isJsonObject(value)) throw new RowError('must be an object')
  return value
}

/** Parses a cell; one that is not JSON is returned as text. */
function jsonFromCell(cell: string): unknown {
  try {
    return parseJson(cell)
  } catch {
    return cell
  }
}

const subIdSet: ReadonlySet<string> = new Set(subIdNames)

type SubIds = Partial<Record<SubIdName, string>>

/** An object of sub-ids; absent ones are omitted. */
const subIds: FieldType<SubIds> = {
  read(value) {
    const given: SubIds = {}
    for (const [name, sub] of Object.entries(readObject(value))) {
      if (!subIdSet.has(name))
        throw new RowError(
          `contains ${JSON.stringify(name.slice(0, 64))}, which is not one of ${subIdNames[0]} to ${subIdNames.at(-1)}`,
        )
      if (sub === null || sub === '' || sub === notSet) continue
      if (textOf(sub) === undefined) throw new RowError(`must contain text in ${name}`)
      given[name as SubIdName] = readStorableText(sub)
    }
    return given
  },
  fromCell: jsonFromCell,
}

/** The field `subIds`, and a field for each sub-id. */
export const subIdFields: Readonly<Record<'subIds' | SubIdName, FieldType<SubIds>>> = {
  subIds,
  ...(Object.fromEntries(
    subIdNames.map((name) => [name, { read: (value: unknown) => ({ [name]: readStorableText(value) }) }]),
  ) as Record<SubIdName, FieldType<SubIds>>),
}

const { keysMax, keyLengthMax, textLengthMax, bytesMax } = propertyLimits

/**
 * Converts an object of at most 20 texts, numbers and booleans, or its JSON text as in a CSV cell and in NDJSON of `GET /events`, to
 * JSON text; an empty object to empty text.
 */
const properties: FieldType<string> = {
  read(value, note) {
    const entries = Object.entries(readObject(typeof value === 'string' ? jsonFromCell(value) : value))
      .filter(([, property]) => property !== null)
      .map(([name, property]) => [readStored(name, note), readProperty(name, property, note)])
    if (entries.length > keysMax) throw new RowError(`must have at most ${keysMax} keys`)
    const json = JSON.stringify(Object.fromEntries(entries))
    if (Buffer.byteLength(json) > bytesMax) throw new RowError(`must be at most ${bytesMax / 1024} KiB as JSON`)
    return entries.length === 0 ? '' : json
  },
}

function readStored(text: string, note: Note | undefined): string {
  const stored = storableText(text)
  if (stored !== text) note?.('has U+FFFD instead of U+0000', text)
  return stored
}

function readProperty(name: string, value: unknown, note: Note | undefined): string | number | boolean {
  const shown = JSON.stringify(name.slice(0, keyLengthMax))
  if (isLonger(name, keyLengthMax) || !name.isWellFormed()) {
    throw new RowError(`must have keys of at most ${keyLengthMax} characters, not ${shown}`)
  }
  const property = readDouble(value, note)
  if (typeof property === 'boolean') return property
  if (typeof property === 'number' && Number.isFinite(property)) return property
  if (typeof property === 'string' && !isLonger(property, textLengthMax) && property.isWellFormed())
    return readStored(property, note)
  throw new RowError(`must contain text of at most ${textLengthMax} characters, a number or a boolean in ${shown}`)
}

export const listMax = 1_000

/** A list of texts; a CSV cell separates them by `|`, or is a JSON list when one of them contains `|`. */
function listOf(item: FieldType<string>): FieldType<string[]> {
  return {
    read(value) {
      if (!Array.isArray(value) || value.length > listMax)
        throw new RowError(`must be a list of at most ${listMax} texts`)
      return value.map((one) => item.read(one))
    },
    fromCell(cell) {
      const parsed = cell.startsWith('[') ? jsonFromCell(cell) : undefined
      const isList = Array.isArray(parsed) && parsed.every((one) => typeof one === 'string')
      return isList ? parsed : cell.split('|').filter((one) => one !== '')
    },
  }
}

/** The types of fields by kind of column. */
const ofKind: Readonly<Partial<Record<ColumnKind | MetadataKind, FieldType<unknown>>>> = {
  money,
  moneyOrNull: money,
  floatOrNull: signal,
  // Only `generation` has this type. `POST /events` stores the next generations, at most one a day: the limit leaves them room.
  uint32: wholeNumber(1_000_000),
  instant,
  instantOrNull: instant,
  id,
  flag: boolean,
  status: oneOf(metadataStatuses),
  list: listOf(textField),
}

const idFields = ['id', ...Object.keys(entityIdFields), 'visitorId', 'clickId', 'userId']
/** The types of fields that their kind does not decide. */
const ofName: Readonly<Record<string, FieldType<unknown>>> = {
  ...Object.fromEntries(idFields.map((name) => [name, id] as const)),
  country,
  countries: listOf(country),
  device: oneOf(devices),
  ip,
  currency,
  properties,
}

/**
 * @param fields stored fields of a resource
 * @returns their types by name, without sub-ids; the types of fields that only a file has follow the base amount
 */
export function typesOf(
  fields: Readonly<Record<string, ColumnKind | MetadataKind>>,
): Record<string, FieldType<unknown>> {
  const types: Record<string, FieldType<unknown>> = {}
  for (const [name, kind] of Object.entries(fields)) {
    if (!subIdSet.has(name)) types[name] = ofName[name] ?? ofKind[kind] ?? textField
    if (name === 'costBase' || name === 'revenueBase')
      Object.assign(types, { exchangeRate: rate, baseCurrency: currency })
  }
  return types
}

/** Fields that exported clicks and conversions have and imports ignore. */
export const unstored = ['campaignName', 'offerName', 'landingPageName', 'trafficSourceName', 'storedAt', 'cursor']
