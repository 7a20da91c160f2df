import type { TimeDimension } from '../../../schema/dimensions.ts'
import { ch, type Fragment, instant, integer, join, text } from '../../stores/clickhouse/sql.ts'
import type { OffsetChange } from '../timeZone.ts'

/**
 * The key that a time dimension is grouped by: cheap to compute for each row, and of the same type from every source.
 * @param at UTC time, `DateTime64`
 * @param offsets of the time zone in the range; at least one
 */
export function timeKey(dimension: TimeDimension, at: Fragment, offsets: readonly OffsetChange[]): Fragment {
  const local = localTime(at, offsets)
  if (dimension !== 'hour') return keys[dimension](local)
  const hour = ch`toStartOfHour(${local})`
  // The offset distinguishes the two hours with one local time when a clock is set back.
  return offsets.length === 1 ? hour : ch`(${hour}, ${byOffset(at, offsets, offsetLabel)})`
}

const keys: Record<Exclude<TimeDimension, 'hour'>, (local: Fragment) => Fragment> = {
  day: (local) => ch`toDate32(${local})`,
  week: (local) => ch`toMonday(toDate32(${local}))`,
  month: (local) => ch`toStartOfMonth(toDate32(${local}))`,
  hour_of_day: (local) => ch`toHour(${local})`,
  weekday: (local) => ch`toDayOfWeek(${local})`,
}

/** Settings of queries with these keys: local times of 1 January 1970 may be in 1969, which only the extended types have. */
export const timeKeySettings = { enable_extended_results_for_datetime_functions: 1 } as const

/** Whether all instants of a local day have the same value. */
export function isOfWholeDays(dimension: TimeDimension): boolean {
  return dimension !== 'hour' && dimension !== 'hour_of_day'
}

/** @returns the id of a key in responses */
export function timeId(dimension: TimeDimension, key: Fragment, offsets: readonly OffsetChange[]): Fragment {
  if (dimension === 'month') return ch`substring(toString(${key}), 1, 7)`
  if (dimension === 'hour_of_day') return ch`leftPad(toString(${key}), 2, '0')`
  if (dimension !== 'hour') return ch`toString(${key})`
  const [only] = offsets
  return only && offsets.length === 1
    ? ch`concat(formatDateTime(${key}, '%Y-%m-%dT%H:00'), ${offsetLabel(only)})`
    : ch`concat(formatDateTime(${key}.1, '%Y-%m-%dT%H:00'), ${key}.2)`
}

function localTime(at: Fragment, offsets: readonly OffsetChange[]): Fragment {
  if (offsets.every(({ offsetS }) => offsetS === 0)) return at
  return ch`addSeconds(${at}, ${byOffset(at, offsets, ({ offsetS }) => ch`${integer(offsetS)}`)})`
}

const offsetLabel = (offset: OffsetChange): Fragment => ch`${text(offset.text)}`

/** @returns the value for the offset at a time; a constant if there is only one */
function byOffset(at: Fragment, offsets: readonly OffsetChange[], toValue: (offset: OffsetChange) => Fragment) {
  const values = offsets.map(toValue)
  const last = values.at(-1) as Fragment
  const changes = offsets.slice(1)
  const branches = changes.map(({ fromMs }, index) => ch`${at} < ${instant(fromMs)}, ${values[index] as Fragment}`)
  return changes.length === 0 ? last : ch`multiIf(${join([...branches, last])})`
}
