import { readFile } from 'node:fs/promises'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
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
    value = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  return { value: matching(path, schema, value, mismatch), text }
}

/** @throws CommandError that names the invalid value */
export function matching<Schema extends TSchema>(path: string, schema: Schema, value: unknown, mismatch: string) {
  const [invalid] = Value.Errors(schema, value)
  if (!invalid) return value as Static<Schema>
  const { description } = invalid.schema
  const reason = description === undefined ? invalid.message : `must be ${description}`
  throw new CommandError(`${path} ${mismatch}: ${invalid.path || '/'}: ${reason}.`)
}
