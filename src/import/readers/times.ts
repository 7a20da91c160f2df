import { textOf } from '../../query/exactJson.ts'
import { parseTimeText, type TimeText, timeForms } from '../../query/timeText.ts'
import { storableTimes } from '../../stores/clickhouse/sql.ts'
import { dayMs } from '../../stores/timing/units.ts'
import type { Note } from './amounts.ts'
import type { Input } from './mapping.ts'
import { RowError } from './rowError.ts'
import type { FieldType } from './texts.ts'

type Options = Partial<Input>

/** A time, which is truncated to epoch milliseconds. */
export const instant: FieldType<number> = (value, options = {}, note) =>
  toInstant(readTime(value, options), options, value, note)

/** @returns a local day, in days since 1970 */
function dayOf({ kind, ms }: TimeText, { localTime }: Options): number {
  return Math.floor((kind === 'instant' && localTime ? localTime(ms) : ms) / dayMs)
}

/** The end of the time that a cost covers. Only its local day is read. */
export const spentUntil: FieldType<{ untilDay: number }> = (value, options = {}) => {
  return { untilDay: dayOf(readTime(value, options), options) }
}

/**
 * The time of a cost; `givenTime` is the time as the file has it: in its own zone, if it has no offset. `spentDay` is its local day.
 */
export const spentAt: FieldType<{ spentAt: number; givenTime: string; spentDay: number }> = (
  value,
  options = {},
  note,
) => {
  const time = readTime(value, options)
  const given = new Date(time.ms).toISOString()
  const givenTime = time.kind === 'instant' ? given : given.slice(0, -1)
  return { spentAt: toInstant(time, options, value, note), givenTime, spentDay: dayOf(time, options) }
}

function readTime(value: unknown, { dateOrder, namesOptions = true }: Options): TimeText {
  const text = textOf(value)?.trim() ?? ''
  const time = parseTimeText(text, dateOrder) ?? readEpochTime(text)
  if (time) return time
  const order = dateOrder ? `another order than ${dateOrder}` : 'an unknown order'
  if (parseTimeText(text, 'mdy') || parseTimeText(text, 'dmy'))
    throw new RowError(`has day and month in ${order}${namesOptions ? '; --date-order gives the order' : ''}`)
  throw new RowError(`must be a time such as ${timeForms}`)
}

function toInstant(time: TimeText, options: Options, value: unknown, note: Note | undefined): number {
  const { localInstant, namesOptions = true } = options
  if (time.kind !== 'instant' && !localInstant) {
    const offset = 'must have an offset, as 2026-11-21T03:00:00Z has'
    throw new RowError(namesOptions ? `${offset}, or --tz must give the time zone` : offset)
  }
  const epochMs = time.kind === 'instant' || !localInstant ? time.ms : localInstant(time.ms)
  if (epochMs < storableTimes.fromMs || epochMs >= storableTimes.untilMs)
    throw new RowError('must be between 1970-01-01 and 2105-12-31')
  if (/[1-9]/.test(time.below)) note?.('is truncated to milliseconds', value)
  return epochMs
}

/**
 * Seconds since 1970 in 10 digits, from 2001-09-09 on; milliseconds, microseconds and nanoseconds have 3, 6 and 9 more. Digits such as
 * 2026112014 are not read as the year 2034, because they are a date and an hour.
 */
const epochTime =
  /^(?!20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3]))(\d{10})(?:\.(\d{1,9})|((?:\d{3}){0,3}))$/

function readEpochTime(text: string): TimeText | undefined {
  // BigQuery writes 1.795185931123456E9; a double keeps microseconds of seconds.
  const plain = text.replace(/^\d\.\d{1,15}E9$/, (number) => `${Number(number)}`)
  const [, seconds, decimals, more = ''] = epochTime.exec(plain) ?? []
  if (seconds === undefined) return undefined
  const fraction = decimals ?? more
  return { kind: 'instant', ms: Number(seconds + fraction.slice(0, 3).padEnd(3, '0')), below: fraction.slice(3) }
}
