import {
  type CopySource,
  type DayChecksum,
  dayRange,
  requestChecksums,
  type SourceChecksums,
  type Span,
  timeRange,
} from '../source/checksums.ts'
import { SyncError } from '../source/errors.ts'
import { isDay } from '../source/received.ts'
import { type ChangingResource, columnNameOf } from '../source/resources.ts'
import type { Database } from './database.ts'

export type CopyChecksums = ReturnType<typeof openChecksums>

/** Opens the days and checksums of a copy. */
export function openChecksums({ dialect, query }: Database, schema: string) {
  return {
    days,
    checksums,
    /** Reads the checksums of every day with rows, in the source or in the copy. @returns undefined if there are none */
    async readChecksums(source: CopySource, resource: ChangingResource): Promise<SourceChecksums | undefined> {
      const range = dayRange(await timeRange(source, resource), await days(resource))
      return range && (await requestChecksums(source, resource, range))
    },
    /** @returns the days with rows, in the source or in the copy, that differ */
    async differentDays(resource: ChangingResource, source: SourceChecksums): Promise<string[]> {
      const copied = new Map((await checksums(resource, source)).map((day) => [day.day, day]))
      const missing = source.days.filter(({ day, rows, amount, hash }) => {
        const found = copied.get(day)
        return found?.rows !== rows || found.hash !== hash || Number(found.amount) !== Number(amount)
      })
      const known = new Set(source.days.map(({ day }) => day))
      return [...missing.map(({ day }) => day), ...[...copied.keys()].filter((day) => !known.has(day))]
    },
  }

  /** Checksums of the rows that were stored before `asOf`. */
  async function checksums({ name, key, time, amount }: ChangingResource, { asOf, range }: SourceChecksums) {
    const timeColumn = columnNameOf(time)
    const instantText = (column: string) => `${dialect.timeText(`${column} AT TIME ZONE 'UTC'`)} || 'Z'`
    const parts = [...key.map(columnNameOf), instantText(timeColumn), instantText('stored_at')]
    return await query<DayChecksum>(
      `SELECT ${dialect.dayText(`${timeColumn} AT TIME ZONE 'UTC'`)} AS day, count(*)::int AS rows,
         ${amount ? `coalesce(sum(${columnNameOf(amount)}), 0)` : 0}::text AS amount,
         ${dialect.xorHash(parts.join(" || '|' || "))} AS hash
       FROM ${schema}.${name}
       WHERE stored_at < $1::timestamptz AND ${inDays(timeColumn, 2, 3)}
       GROUP BY 1
       ORDER BY 1`,
      [asOf, range.from, range.to],
    )
  }

  /** First and last UTC day with rows; undefined for an empty table. */
  async function days({ name, time }: ChangingResource): Promise<Span | undefined> {
    const column = columnNameOf(time)
    const [row] = await query<{ first: string | null; last: string }>(
      `SELECT ${dialect.dayText(`min(${column}) AT TIME ZONE 'UTC'`)} AS first,
         ${dialect.dayText(`max(${column}) AT TIME ZONE 'UTC'`)} AS last
       FROM ${schema}.${name}`,
    )
    if (!row?.first) return undefined
    if (isDay(row.first) && isDay(row.last)) return { from: row.first, to: row.last }
    throw new SyncError(`${schema}.${name} has a row with ${column} before the year 1 or after 9999; delete it.`)
  }
}

/** @returns a condition: the time is in the UTC days from one parameter to another one, both numbers of parameters */
export function inDays(time: string, from: number, to: number): string {
  return `${time} >= $${from}::date::timestamp AT TIME ZONE 'UTC' AND ${time} < ($${to}::date + 1)::timestamp AT TIME ZONE 'UTC'`
}
