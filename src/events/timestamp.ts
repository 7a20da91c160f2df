/** ISO 8601, extended: date, or date and time with optional seconds, fraction and offset (`Z`, `±hh`, `±hhmm`, `±hh:mm`); else UTC. */
const dateTime =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[Tt]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?(?:[Zz]|([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?)?)?$/

/** Epoch milliseconds, truncated; undefined for an invalid timestamp or a date that does not exist. */
export function readTimestamp(text: string): number | undefined {
  const parts = dateTime.exec(text)
  if (!parts) return undefined
  const [, date = '', hour = '00', minute = '00', second = '00', fraction = ''] = parts
  const [offsetHour = '+00', offsetMinute = '00'] = parts.slice(6)
  // TRAP: Date reads 30 February as 2 March.
  if (!new Date(date).toISOString().startsWith(date)) return undefined
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  return Date.parse(`${date}T${hour}:${minute}:${second}.${milliseconds}${offsetHour}:${offsetMinute}`)
}
