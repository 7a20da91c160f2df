import { hourMs } from '../stores/timing/units.ts'

/** A time as a text gives it. */
export interface TimeText {
  kind: 'date' | 'local' | 'instant'
  /** Epoch milliseconds, truncated; of a date and of a local time as if they were UTC. */
  ms: number
  /** Digits of the fraction after milliseconds. */
  below: string
}

/** Order of a date of digits whose year is last: `11/20/2026` is `mdy`. */
export const dateOrders = ['mdy', 'dmy'] as const
export type DateOrder = (typeof dateOrders)[number]

/** Examples of forms that are read, for messages. */
export const timeForms = '2026-11-21T03:00:00Z, 2026-11-21 03:00:00+01 or Sat, 21 Nov 2026 03:00:00 GMT'

/** Longer than any form; bounds the work for a text. */
const charactersMax = 100

/**
 * Reads a time as ISO 8601, databases, spreadsheets, mail, logs and the command `date` write it; docs/imports.md lists the forms.
 * Abbreviations of time zones other than UTC and GMT are not read, because they have several meanings.
 * @param order of dates such as `11/12/2026`, which have two meanings; without it they are not read
 * @returns undefined for another text, and for a time that does not exist
 */
export function parseTimeText(text: string, order?: DateOrder): TimeText | undefined {
  if (text.length > charactersMax) return undefined
  return parseUsual(text) ?? parseIso(text) ?? parseIso(asIso(text, order))
}

const usual =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Reads the form that most files have, which `parseIso` would read too, in less time. */
function parseUsual(text: string): TimeText | undefined {
  return usual.test(text) && isDate(text) ? { kind: 'instant', ms: Date.parse(text), below: '' } : undefined
}

/** TRAP: Date reads 30 February as 2 March. */
function isDate(text: string): boolean {
  const day = text.slice(8, 10)
  return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === Number(day)
}

/**
 * TRAP: the end of `2026-11-20 14-05` could mean minutes, so an offset after an hour needs a colon; `2026-11-20 14:00-15:00` could mean
 * an hour, so its offset needs a `T` or a space. Offsets are at most 15:59, the limit of PostgreSQL, except in forms of RFC 3339.
 */
const iso =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:(?:T| (?!\d\d?:\d\d-))(\d\d?)(?![+-]\d+$)(?::([0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?)?(?: ?([AP])M)?(?: ?(Z|UTC|GMT|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d(?::[0-5]\d)?)?))?)?$/i

const offsetEndMs = 16 * hourMs

function parseIso(text: string): TimeText | undefined {
  const [, date, hour, minute = '00', second = '00', fraction = '', half, offset] = iso.exec(text) ?? []
  if (date === undefined || !isDate(date)) return undefined
  const hours = half === undefined ? Number(hour ?? 0) : hoursOf(Number(hour), half)
  if (hours > 23) return undefined
  const clock = `${String(hours).padStart(2, '0')}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`
  const ms = Date.parse(`${date}T${clock}Z`)
  if (Math.abs(offsetMs(offset ?? '')) >= offsetEndMs && !/^.{10}T.{5}:/i.test(text)) return undefined
  const below = fraction.slice(3)
  if (offset !== undefined) return { kind: 'instant', ms: ms - offsetMs(offset), below }
  return { kind: hour === undefined ? 'date' : 'local', ms, below }
}

/** @returns the hour of the day; 24 for an hour that a clock of 12 hours does not have */
function hoursOf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return 24
  return (hour % 12) + (/p/i.test(half) ? 12 : 0)
}

/** Of `Z`, `UTC`, `GMT`, `±hh`, `±hhmm`, `±hh:mm` or `±hh:mm:ss`. */
function offsetMs(offset: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^.(\d\d):?(\d\d)?:?(\d\d)?$/.exec(offset) ?? []
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
  return offset.startsWith('-') ? -ms : ms
}

const months = 'january february march april may june july august september october november december'.split(' ')
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')

/** @returns the position of a name, or of three or more of its first letters, in any case; -1 for another text */
function positionOf(names: readonly string[], word: string): number {
  const name = word.toLowerCase()
  return name.length < 3 ? -1 : names.findIndex((known) => known.startsWith(name))
}

/** Dates of digits: year first, or year last; a year of two digits is one from 2000 to 2069, after `/` or `.` only. */
const digits = /^(?:(\d{4})([-/.])(\d\d?)\2(\d\d?)|(\d\d?)([-/.])(\d\d?)\6(\d{4}|(?<=[/.])[0-6]\d))(?=$|[T ,])/

/** Digits of a date, and of a time of day; 10 digits or more without `T` that are no year of this century are seconds since 1970. */
const compact = /^(20\d\d|\d{4}(?=\d{4}(?:T|$)))(\d\d)(\d\d)(?:(T?)(\d\d)(?:(\d\d)(\d\d)?(?!\d)|$))?/i

function separated(_: string, ...parts: string[]): string {
  const [year, month, day, t, hour, minute = '00', second] = parts
  const clock = hour === undefined ? '' : `${t ? 'T' : ' '}${hour}:${minute}${second ? `:${second}` : ''}`
  return `${year}-${month}-${day}${clock}`
}

/** @returns another form as `parseIso` reads it; a text that it does not read if the form is unknown */
function asIso(text: string, order: DateOrder | undefined): string {
  // Some programs put a no-break space before AM and PM, and the name of the zone after an offset.
  const spaced = text
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<=[+-]\d\d:\d\d|Z)\[[\w/+-]{1,40}\]$/, '')
    .replace(/ (?:GMT)?([+-]\d{4})(?: \([^()]{1,60}\)| [A-Z]{3,5})?$/, ' $1')
    .replace(/ Etc\/UTC$/, ' UTC')
    .replace(compact, separated)
  const [date, year, , month = '', day = '', first = '', , second = '', last = ''] = digits.exec(spaced) ?? []
  if (date === undefined) return namedAsIso(spaced)
  const clock = spaced.slice(date.length).replace(/^, /, ' ')
  if (year !== undefined) return dateText(year, month, day) + clock
  if (order === undefined) return ''
  const full = last.padStart(4, '20')
  return (order === 'mdy' ? dateText(full, first, second) : dateText(full, second, first)) + clock
}

function dateText(year: string, month: string | number, day: string): string {
  return `${year}-${`${month}`.padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** A time with the name of its month: its parts differ in form, so that each order of them has one meaning. */
function namedAsIso(text: string): string {
  const words = text
    .replace(/^(\d\d?)[-/]([A-Za-z]{3,9})[-/](?=\d{4})/, '$1 $2 ')
    .replace(
      /^([A-Za-z]{3,9}) (\d{4})-(\d\d)-(\d\d) /,
      (_, weekday, year, month, day) => `${weekday} ${day} ${months[month - 1]} ${year} `,
    )
    .replace(/,? at (?=\d\d?:)/, ' ')
    .split(/,? +|(?<= \d{4}):/)
  const found: Partial<Record<'weekday' | 'month' | 'day' | 'year' | 'clock' | 'half' | 'offset', string>> = {}
  for (const word of words) {
    const part = partOf(word)
    if (part === undefined || found[part] !== undefined) return ''
    found[part] = word
  }
  const { weekday, month, day, year, clock = '', half = '', offset = '' } = found
  if (month === undefined || day === undefined || year === undefined) return ''
  const date = dateText(year, positionOf(months, month) + 1, day)
  if (weekday !== undefined && positionOf(weekdays, weekday) !== new Date(date).getUTCDay()) return ''
  return [date, clock, half, offset].filter((part) => part !== '').join(' ')
}

function partOf(word: string) {
  if (/^\d\d?$/.test(word)) return 'day'
  if (/^\d{4}$/.test(word)) return 'year'
  if (/^\d\d?:/.test(word)) return 'clock'
  if (/^[AP]M$/i.test(word)) return 'half'
  if (/^(?:Z|UTC|GMT|[+-].+)$/i.test(word)) return 'offset'
  if (positionOf(months, word) >= 0) return 'month'
  return positionOf(weekdays, word) >= 0 ? 'weekday' : undefined
}
