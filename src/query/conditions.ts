import { ch, type Fragment, instant } from '../stores/clickhouse/sql.ts'
/** The conditions that a column of moments lies in a range; none for an open end. */
export function inRange(
  column: Fragment,
  { fromMs, untilMs }: { fromMs?: number | undefined; untilMs?: number | undefined },
): Fragment[] {
  return [
    ...(fromMs === undefined ? [] : [ch`${column} >= ${instant(fromMs)}`]),
    ...(untilMs === undefined ? [] : [ch`${column} < ${instant(untilMs)}`]),
  ]
}
