import { readFile } from 'node:fs/promises'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { forEachMark } from '../api/events/jsonStructure.ts'
import { CommandError } from './errors.ts'

/**
 * Reads a file of JSON.
 * @param mismatch said of a file that does not match the schema: `is no account`
 * @throws CommandError that names the file, and the invalid value
 */
export async function readJsonFile<Schema extends TSchema>(path: string, schema: Schema, mismatch: string) {
  let text: string
  let value: unknown
  try {
    text = await readFile(path, 'utf8')
    assertFewValues(text)
    value = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  return { value: matching(path, schema, value, mismatch), text }
}

/** @throws CommandError that names the invalid value */
export function matching<Schema extends TSchema>(
  path: string,
  schema: Schema,
  value: unknown,
  mismatch: string,
): Static<Schema> {
  const [invalid] = Value.Errors(schema, value)
  if (!invalid) return value as Static<Schema>
  const { description } = invalid.schema
  const reason = description === undefined ? invalid.message : `must be ${description}`
  throw new CommandError(`${path} ${mismatch}: ${invalid.path || '/'}: ${reason}.`)
}

/**
 * Parsed JSON of short values takes forty times the memory of its text. The files of the command have a value in ten bytes at
 * most, since their values are ids, hashes and times.
 * @throws Error if the text has more
 */
function assertFewValues(text: string): void {
  let left = 100 + text.length / 10
  forEachMark(text, (mark) => {
    if ('[{,'.includes(mark)) left -= 1
    if (left < 0) throw new Error('it has more values than a file that the command writes')
  })
}
