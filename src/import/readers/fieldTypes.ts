import { eventValueMax } from '../../../schema/event.ts'
import { devices } from '../../../schema/filters.ts'
import { metadataStatuses } from '../../../schema/metadata.ts'
import { textOf } from '../../query/exactJson.ts'
import type { ColumnKind } from '../../stores/clickhouse/columnKinds.ts'
import { entityIdFields, subIdFields } from '../../stores/clickhouse/tableColumns.ts'
import type { MetadataKind } from '../../stores/postgres/metadataFields.ts'
import { readDouble, readRate, withNumberText } from './amounts.ts'
import { money } from './money.ts'
import { listOf, properties } from './objects.ts'
import { InvalidValue, RowError, replacing } from './rowError.ts'
import { anonymousIp, country, currency, type FieldType, id, oneOf, storableText } from './texts.ts'
import { instant } from './times.ts'

/** Words that spreadsheets, databases and programs write, in any case. */
const booleans = new Map([
  ...['true', 't', 'yes', 'y', '1', '1.0'].map((word) => [word, true] as const),
  ...['false', 'f', 'no', 'n', '0', '0.0'].map((word) => [word, false] as const),
])

const boolean: FieldType<boolean> = (value) => {
  const found = typeof value === 'boolean' ? value : booleans.get(textOf(value)?.toLowerCase() ?? '')
  if (found === undefined) throw new InvalidValue('must be true or false', replacing)
  return found
}

/** The value of a pixel event. Not money, so a double is precise enough. */
const signal: FieldType<number> = (value, _input, note) => {
  const number = readDouble(withNumberText(value), note)
  if (typeof number !== 'number') throw new RowError('must be a number')
  if (!(Math.abs(number) <= eventValueMax)) throw new RowError('must be between -10^12 and 10^12')
  // Converts -0 to 0, as POST /events does.
  return number + 0
}

function wholeNumber(maximum: number): FieldType<number> {
  return (value, _input, note) => {
    const number = readDouble(withNumberText(value), note) as number
    if (Number.isInteger(number) && number >= 0 && number <= maximum) return number
    throw new RowError(`must be a whole number from 0 to ${maximum}`)
  }
}

/** The types of fields by kind of column. */
const ofKind: Readonly<Partial<Record<ColumnKind | MetadataKind, FieldType<unknown>>>> = {
  money,
  moneyOrNull: money,
  floatOrNull: signal,
  // Only `generation` has this type. `POST /events` stores the next generations, at most one a day: the limit leaves them room.
  uint32: wholeNumber(1_000_000),
  uint64: wholeNumber(Number.MAX_SAFE_INTEGER),
  instant,
  instantOrNull: instant,
  id,
  flag: boolean,
  status: oneOf(metadataStatuses),
  list: listOf(storableText),
}

const idFields = ['id', ...Object.keys(entityIdFields), 'visitorId', 'clickId', 'userId', 'importFile']
/** The types of fields that their kind does not decide. */
const ofName: Readonly<Record<string, FieldType<unknown>>> = {
  ...Object.fromEntries(idFields.map((name) => [name, id] as const)),
  country,
  countries: listOf(country),
  device: oneOf(devices),
  ip: anonymousIp,
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
    if (!(name in subIdFields)) types[name] = ofName[name] ?? ofKind[kind] ?? storableText
    if (name === 'costBase' || name === 'revenueBase')
      Object.assign(types, { exchangeRate: readRate, baseCurrency: currency })
  }
  return types
}

/** Fields that exported clicks and conversions have and imports ignore. */
export const unstored = ['campaignName', 'offerName', 'landingPageName', 'trafficSourceName', 'storedAt', 'cursor']
