/**
 * ISO 8601, extended form: a date, or a date with a time of which seconds and their fraction may be left out and an
 * offset (`Z`, `±hh`, `±hhmm`, `±hh:mm`) may follow. Without an offset it is UTC.
 */
const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/

const minuteMs = 60_000

/**
 * Reads a moment.
 * @returns epoch milliseconds, digits beyond them cut off; undefined when it is no date-time or not on the calendar
 */
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
    // TRAP: Date.UTC takes years 0 to 99 for 1900 to 1999; 400 years later the calendar is the same.
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

/** Parts that were left out are zero. */
function number(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits)
}

function isAbove(digits: string | undefined, most: number): boolean {
  return number(digits) > most
}
