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
   * @throws the error of the database; SyncError for none or several statements
   */
  query(statement: string): Promise<QueryResult>
  close(): Promise<void>
}

/** As `ReadableCopy.asOf`. */
export async function readAsOf({ query }: Database, schema: string): Promise<string | undefined> {
  const states = await query<{ resource: string; since: string | null }>(
    `SELECT resource, since FROM ${schema}.sync_state`,
  )
  const times = states.flatMap(({ resource, since }) => {
    const overlapMs = changing.find(({ name }) => name === resource)?.overlapMs
    return overlapMs === undefined ? [] : [since && new Date(Date.parse(since) + overlapMs).toISOString()]
  })
  return times.includes(null) ? undefined : (times as string[]).sort()[0]
}

/** @param text such as `2026-11-20 10:00:00.5+00` @returns the same as JSON in the form of the API: `2026-11-20T10:00:00.5Z` */
export function timeJson(text: string): string {
  return JSON.stringify(text.replace(' ', 'T').replace(/\+00$/, 'Z'))
}
