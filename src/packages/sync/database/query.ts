import { SyncError } from '../source/errors.ts'
import { changing } from '../source/resources.ts'
import type { Database } from './database.ts'

/** The rows of a statement, in parts. */
export interface QueryResult {
  columns: readonly string[]
  /** Each value is JSON: numbers have all their digits, times have the format of the API. */
  parts: AsyncIterable<string[][]>
}

/** A copy that is open for reading. */
export interface ReadableCopy {
  /** The time before which all rows are copied; undefined if the first copy of a resource is not complete. */
  asOf(): Promise<string | undefined>
  /**
   * Executes one statement, which cannot write.
   * @param given texts by the names of its parameters, `$name` in the statement
   * @throws the error of the database; SyncError for none or several statements, and for other parameters than its own
   */
  query(statement: string, given: Readonly<Record<string, string>>): Promise<QueryResult>
  close(): Promise<void>
}

export async function readAsOf({ query }: Database, schema: string): Promise<string | undefined> {
  const names = changing.map(({ name }) => `'${name}'`)
  const [found] = await query<{ asOf: string | null }>(
    `SELECT CASE WHEN count(*) = count(CASE WHEN s.since IS NOT NULL THEN t.as_of END) THEN min(t.as_of) END AS "asOf"
     FROM ${schema}.sync_state AS s LEFT JOIN ${schema}.sync_times AS t ON t.resource = s.resource
     WHERE s.resource IN (${names})`,
  )
  return found?.asOf ?? undefined
}

/** @param names the parameters of a statement @throws SyncError if others are given */
export function checkParameters(names: readonly string[], given: Readonly<Record<string, string>>): void {
  const missing = names.find((name) => !Object.hasOwn(given, name))
  if (missing !== undefined)
    throw new SyncError(`the statement has the parameter $${missing}; add --param ${missing}=…`)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new SyncError(`the statement has no parameter $${unknown}; omit --param ${unknown}.`)
}

/** @param text such as `2026-11-20 10:00:00.5+00` @returns the same as JSON in the form of the API: `2026-11-20T10:00:00.5Z` */
export function timeJson(text: string): string {
  return JSON.stringify(text.replace(' ', 'T').replace(/\+00$/, 'Z'))
}
