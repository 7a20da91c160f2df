import { createHash } from 'node:crypto'
import { idLengthMax } from '../../../schema/scalars.ts'
import { DecimalText } from './decimal.ts'
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
  /** Whether ids that are too long become their SHA-256. */
  readonly hashLongIds?: boolean
}

/** What the values of a row are: JSON values, or texts of CSV cells. */
export interface Input extends Mapping {
  readonly from: 'json' | 'cells'
}

export const noMapping: Mapping = { map: [], constant: [], values: [] }
export const jsonInput: Input = { ...noMapping, from: 'json' }

/** @returns the fields that a mapping sets; a column with the name of one of them is not read */
export function mappedFields({ map, constant }: Mapping): string[] {
  return [...map.map(([, field]) => field), ...constant.map(([field]) => field)].filter((field) => field !== '')
}

/** @returns the type of a field in files of this input */
export function typeInFile(
  name: string,
  type: fieldTypes.FieldType<unknown>,
  { values, hashLongIds, ...times }: Input,
): fieldTypes.FieldType<unknown> {
  const ofTime = type === fieldTypes.instant ? fieldTypes.instantType(times) : type
  const own = hashLongIds && type === fieldTypes.id ? hashedId : ofTime
  const replaced = new Map(values.filter(([key]) => key.startsWith(`${name}:`)))
  if (replaced.size === 0) return own
  const read = (value: unknown) => {
    const given = value instanceof DecimalText ? value.text : value
    const text = typeof given === 'object' ? undefined : replaced.get(`${name}:${given}`)
    return own.read(text === undefined ? value : (own.fromCell?.(text) ?? text))
  }
  return { ...own, read }
}

const hashedId: fieldTypes.FieldType<string> = {
  read(value) {
    const isLong = typeof value === 'string' && value.length > idLengthMax
    return fieldTypes.id.read(isLong ? createHash('sha256').update(value).digest('hex') : value)
  },
}
