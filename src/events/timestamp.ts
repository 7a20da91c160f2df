/** ISO 8601, extended: date, or date and time with optional seconds, fraction and offset (`Z`, `±hh`, `±hhmm`, `±hh:mm`); else UTC. */
const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/

const minuteMs = 60_000

/** Epoch milliseconds, truncated; undefined for an invalid timestamp or a date that does not exist. */
export function readTimestamp(text: string): number | undefined {
  const parts = dateTime.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = parts
  const [monthNumber, dayNumber] = [Number(month), Number(day)]
  if (monthNumber < 1 || monthNumber > 12 || dayNumber < 1 || dayNumber > daysOf(Number(year), monthNumber)) {
    return undefined
  }
  if (isAbove(hour, 23) || isAbove(minute, 59) || isAbove(second, 59)) return undefined
  if (isAbove(offsetHour, 23) || isAbove(offsetMinute, 59)) return undefined
  const offsetMs = (number(offsetHour) * 60 + number(offsetMinute)) * minuteMs
  const localMs = Date.UTC(
    // TRAP: Date.UTC reads years 0 to 99 as 1900 to 1999; the calendar repeats after 400 years.
    Number(year) + 400,
    monthNumber - 1,
    dayNumber,
    number(hour),
    number(minute),
    number(second),
    Number(fraction.slice(0, 3).padEnd(3, '0')),
  )
  return localMs - daysIn400YearsMs - (sign === '-' ? -offsetMs : offsetMs)
}

const daysIn400YearsMs = 146_097 * 86_400_000

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Absent parts are zero. */
function number(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits)
}

function isAbove(digits: string | undefined, max: number): boolean {
  return number(digits) > max
}
