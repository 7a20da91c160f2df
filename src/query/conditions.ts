import { ch, type Fragment, instant, join, nothing } from '../stores/clickhouse/sql.ts'
import type { Range } from './timeRange.ts'

/** The conditions that a column of moments lies in a range; none for an open end. */
export function inRange(column: Fragment, { fromMs, untilMs }: Partial<Record<keyof Range, number | undefined>>) {
  return [
    ...(fromMs === undefined ? [] : [ch`${column} >= ${instant(fromMs)}`]),
    ...(untilMs === undefined ? [] : [ch`${column} < ${instant(untilMs)}`]),
  ]
}

/** The clause PREWHERE on a line of its own; nothing without conditions. */
export function prewhere(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? nothing : ch`\nPREWHERE ${join(conditions, '\n  AND ')}`
}
