import { fieldNames } from '../import/header.ts'
import { type Input, jsonInput } from '../import/readers/mapping.ts'
import { listMax } from '../import/readers/objects.ts'
import { RowError } from '../import/readers/rowError.ts'
import type { RawFields, RowReader } from '../import/readers/rowReader.ts'
import { type ImportName, importNames } from '../import/resourceNames.ts'
import { decodeRow, readerOf } from '../import/rows.ts'
import { parseJson } from '../query/exactJson.ts'
import type { RowToStore } from '../writer/store/rowBatch.ts'
import type { AccountState } from './accountState.ts'
import type { FeedRow } from './rows.ts'

/** The two fields that say whose row it is are not fields of a resource. */
const ownFields = ['accountId', 'resource']
const feedInput: Input = { ...jsonInput, namesOptions: false, map: ownFields.map((name) => [name, '']) }

const knownFields = Object.fromEntries(importNames.map((name) => [name, new Set([...ownFields, ...fieldNames(name)])]))

/** Whether the numbers of a row are read exactly, which takes 2 µs each: a row with other fields, or with a long value, is rejected. */
function mayBeValid(resource: ImportName, fields: object): boolean {
  const known = knownFields[resource]
  return Object.entries(fields).every(([name, value]) => known?.has(name) && isShort(value))
}

/** Whether a value is a text, a number, a boolean, or has some of them. */
function isShort(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  const values = Object.values(value)
  return values.length <= listMax && values.every((one) => typeof one !== 'object' || one === null)
}

/** By resource and currency: a reader prepares some kilobytes, which all accounts share. */
const readers = new Map<string, RowReader<RowToStore['row']>>()

/** @throws RowError when the row must not be stored */
export function decodeFeedRow(feedRow: FeedRow, state: AccountState): RowToStore {
  const { refusal, currency } = state
  if (refusal !== null) throw new RowError(refusal)
  const { accountId, resource, bytes, origin, line } = feedRow
  const read = readers.get(`${resource} ${currency}`) ?? readerOf(resource, currency)
  readers.set(`${resource} ${currency}`, read)
  const fields = parseJson(bytes.toString(), (plain) => mayBeValid(resource, plain as object)) as RawFields
  return decodeRow(resource, read, [fields, feedInput, line], { accountId, ...state }, origin)
}
