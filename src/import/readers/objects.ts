import { notSet } from '../../../schema/dimensions.ts'
import { propertyLimits, storableText as withoutNul } from '../../../schema/event.ts'
import { type SubIdName, subIdNames } from '../../../schema/subIds.ts'
import { isLonger } from '../../../schema/textLength.ts'
import { isJsonObject, parseJson, textOf } from '../../query/exactJson.ts'
import { type Note, readDouble } from './amounts.ts'
import { RowError } from './rowError.ts'
import { type FieldType, storableText } from './texts.ts'

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

type SubIds = Partial<Record<SubIdName, string>>

/** An object of sub-ids; absent ones are omitted. */
const subIds: FieldType<SubIds> = (value, _input, _note, isCell) => {
  const given: SubIds = {}
  for (const [name, sub] of Object.entries(readObject(isCell ? jsonFromCell(value as string) : value))) {
    if (!subIdNames.includes(name as SubIdName))
      throw new RowError(`contains ${JSON.stringify(name.slice(0, 64))}, which is none of sub1 to ${subIdNames.at(-1)}`)
    if (sub === null || sub === '' || sub === notSet) continue
    if (textOf(sub) === undefined) throw new RowError(`must contain text in ${name}`)
    given[name as SubIdName] = storableText(sub)
  }
  return given
}

/** The field `subIds`, and a field for each sub-id. */
export const subIdFields: Readonly<Record<string, FieldType<SubIds>>> = {
  subIds,
  ...Object.fromEntries(subIdNames.map((name) => [name, (value: unknown) => ({ [name]: storableText(value) })])),
}

const { keysMax, keyLengthMax, textLengthMax, bytesMax } = propertyLimits

/**
 * Converts an object of at most 20 texts, numbers and booleans, or its JSON text as in a CSV cell and in NDJSON of `GET /events`, to
 * JSON text; an empty object to empty text.
 */
export const properties: FieldType<string> = (value, _input, note) => {
  const entries = Object.entries(readObject(typeof value === 'string' ? jsonFromCell(value) : value))
    .filter(([, property]) => property !== null)
    .map(([name, property]) => [readStored(name, note), readProperty(name, property, note)])
  if (entries.length > keysMax) throw new RowError(`must have at most ${keysMax} keys`)
  const json = JSON.stringify(Object.fromEntries(entries))
  if (Buffer.byteLength(json) > bytesMax) throw new RowError(`must be at most ${bytesMax / 1024} KiB as JSON`)
  return entries.length === 0 ? '' : json
}

function readStored(text: string, note: Note | undefined): string {
  const stored = withoutNul(text)
  if (stored !== text) note?.('has U+FFFD instead of U+0000', text)
  return stored
}

function readProperty(name: string, value: unknown, note: Note | undefined): string | number | boolean {
  const shown = JSON.stringify(name.slice(0, keyLengthMax))
  if (isLonger(name, keyLengthMax) || !name.isWellFormed())
    throw new RowError(`must have keys of at most ${keyLengthMax} characters, not ${shown}`)
  const property = readDouble(value, note)
  if (typeof property === 'boolean') return property
  if (typeof property === 'number' && Number.isFinite(property)) return property
  if (typeof property === 'string' && !isLonger(property, textLengthMax) && property.isWellFormed())
    return readStored(property, note)
  throw new RowError(`must contain text of at most ${textLengthMax} characters, a number or a boolean in ${shown}`)
}

export const listMax = 1_000

/** A list of texts; a CSV cell separates them by `|`, or is a JSON list when one of them contains `|`. */
export function listOf(item: FieldType<string>): FieldType<string[]> {
  return (value, _input, _note, isCell) => {
    const list = isCell ? listFromCell(value as string) : value
    if (!Array.isArray(list) || list.length > listMax) throw new RowError(`must be a list of at most ${listMax} texts`)
    return list.map((one) => item(one))
  }
}

function listFromCell(cell: string): unknown[] {
  const parsed = cell.startsWith('[') ? jsonFromCell(cell) : undefined
  const isList = Array.isArray(parsed) && parsed.every((one) => typeof one === 'string')
  return isList ? parsed : cell.split('|').filter((one) => one !== '')
}
