import { createHash } from 'node:crypto'
import { eventIdPattern, idLengthMax, idPattern } from '../../../schema/scalars.ts'
import * as fieldTypes from './fieldTypes.ts'

export type Pairs = readonly (readonly [string, string])[]

/** How the columns of a file differ from the fields of its resource: options of `tributary import`. */
export interface Mapping extends fieldTypes.TimeOptions {
  /** Columns and their fields; a column whose field is empty is not read. */
  readonly map: Pairs
  /** Fields that are equal in every row, and their texts as in CSV cells. */
  readonly constant: Pairs
  /** `field:text` with a text of the file, and the text as in CSV cells that it stands for. */
  readonly values: Pairs
  /** A function is called with the name of each unknown field. */
  readonly ignoreUnknown?: boolean | ((name: string) => void)
  /** Whether ids with other characters, and ids that are too long, become their SHA-256. */
  readonly hashIds?: boolean
  /** Whether ids that are too long become their SHA-256. */
  readonly hashLongIds?: boolean
}

/** What the values of a row are: JSON values, or texts of CSV cells. */
export interface Input extends Mapping {
  readonly from: 'json' | 'cells'
  /** Called for each value of a field that changes, with what is stored instead. */
  readonly note?: (field: string, message: string, value: unknown) => void
}

export const noMapping: Mapping = { map: [], constant: [], values: [] }
export const jsonInput: Input = { ...noMapping, from: 'json' }

/** @returns the fields that a mapping sets; a column with the name of one of them is not read */
export function mappedFields({ map, constant }: Mapping): string[] {
  return [...map.map(([, field]) => field), ...constant.map(([field]) => field)].filter((field) => field !== '')
}

/** @returns the type of a field in files of this input */
export function typeInFile(
  type: fieldTypes.FieldType<unknown>,
  { hashIds, hashLongIds, ...times }: Input,
): fieldTypes.FieldType<unknown> {
  if (type === fieldTypes.instant) return fieldTypes.instantType(times)
  if (type === fieldTypes.spentAt) return fieldTypes.spentAtType(times)
  const pattern = idPatterns.get(type)
  if (hashIds && pattern) return hashed(type, (id) => !pattern.test(id))
  return hashLongIds && type === fieldTypes.id ? hashed(type, (id) => id.length > idLengthMax) : type
}

const idPatterns = new Map<unknown, RegExp>([
  [fieldTypes.id, new RegExp(idPattern)],
  [fieldTypes.eventId, new RegExp(eventIdPattern)],
])

/** TRAP: the UTF-8 bytes of all unpaired surrogates are equal, so that two ids would become one; their rows are rejected. */
function hashed(type: fieldTypes.FieldType<unknown>, isHashed: (id: string) => boolean): fieldTypes.FieldType<unknown> {
  return {
    read(value) {
      const id = fieldTypes.idTextOf(value)
      if (id === undefined || !isHashed(id) || !id.isWellFormed()) return type.read(value)
      return createHash('sha256').update(id).digest('hex')
    },
  }
}

/** @returns texts of a field that stand for other texts, which are texts as in CSV cells; undefined if there are none */
export function replacementsOf(name: string, { values }: Input): ReadonlyMap<string, string> | undefined {
  const own = values.filter(([key]) => key.startsWith(`${name}:`))
  return own.length === 0 ? undefined : new Map(own.map(([key, text]) => [key.slice(name.length + 1), text]))
}
