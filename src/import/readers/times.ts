import { textOf } from '../../query/exactJson.ts'
import { type DateOrder, parseTimeText, type TimeText, timeForms } from '../../query/timeText.ts'
import { storableTimes } from '../../stores/clickhouse/sql.ts'
import { dayMs } from '../../stores/timing/units.ts'
import type { Note } from './amounts.ts'
import { RowError } from './rowError.ts'
import type { FieldType } from './texts.ts'

/** How a file writes times. */
export interface TimeOptions {
  /** Of times without offset, as `localInstantsOf` returns it; undefined: they are rejected. */
  readonly localInstant?: ((localMs: number) => number) | undefined
  /** The inverse function, which `localTimesOf` returns. Undefined: a day is a day of UTC. */
  readonly localTime?: ((epochMs: number) => number) | undefined
  /** Of dates such as 11/12/2026; undefined: they are rejected. */
  readonly dateOrder?: DateOrder | undefined
  /** Whether messages name the options of an import; unless given, they do. */
  readonly namesOptions?: boolean
}

/** The type of times, which are truncated to epoch milliseconds. */
export function instantType(options: TimeOptions): FieldType<number> {
  return (value, note) => toInstant(readTime(value, options), options, value, note)
}

export const instant = instantType({})

/** @returns a local day, in days since 1970 */
function dayOf({ kind, ms }: TimeText, { localTime }: TimeOptions): number {
  return Math.floor((kind === 'instant' && localTime ? localTime(ms) : ms) / dayMs)
}

/** The type of the end of the time that a cost covers. Only its local day is read. */
export function spentUntilType(options: TimeOptions): FieldType<{ untilDay: number }> {
  return (value) => ({ untilDay: dayOf(readTime(value, options), options) })
}

export const spentUntil = spentUntilType({})

/**
 * The type of the time of a cost; `givenTime` is the time as the file has it: in its own zone, if it has no offset. `spentDay` is its
 * local day.
 */
export function spentAtType(options: TimeOptions): FieldType<{ spentAt: number; givenTime: string; spentDay: number }> {
  return (value, note) => {
    const time = readTime(value, options)
    const given = new Date(time.ms).toISOString()
    const givenTime = time.kind === 'instant' ? given : given.slice(0, -1)
    return { spentAt: toInstant(time, options, value, note), givenTime, spentDay: dayOf(time, options) }
  }
}

export const spentAt = spentAtType({})

function readTime(value: unknown, { dateOrder, namesOptions = true }: TimeOptions): TimeText {
  const text = textOf(value)?.trim() ?? ''
  const time = parseTimeText(text, dateOrder) ?? readEpochTime(text)
  if (time) return time
  const order = dateOrder ? `another order than ${dateOrder}` : 'an unknown order'
  if (parseTimeText(text, 'mdy') || parseTimeText(text, 'dmy'))
    throw new RowError(`has day and month in ${order}${namesOptions ? '; --date-order gives the order' : ''}`)
  throw new RowError(`must be a time such as ${timeForms}`)
}

function toInstant(time: TimeText, options: TimeOptions, value: unknown, note: Note | undefined): number {
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
