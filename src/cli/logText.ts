import { type DestinationStream, pino } from 'pino'
import type { LogDestination } from '../http/logging.ts'
import { printable, printableLines } from '../import/readers/printable.ts'

/** A line of the log as an object. */
interface Entry {
  time: string
  level: number
  msg?: string
  pid?: number
  hostname?: string
  err?: { stack?: string }
  [field: string]: unknown
}

/** Writes lines of the log, which are JSON, as text. */
export function inText(destination: LogDestination): DestinationStream & Pick<LogDestination, 'flushSync'> {
  return { write: (line) => void destination.write(logText(line)), flushSync: () => destination.flushSync() }
}

/**
 * Returns a line of the log for people: time, level, message, then the fields as `name=value`. The stack of an error follows
 * in lines of its own. Control characters are escaped.
 * @param line JSON
 */
export function logText(line: string): string {
  const { time, level, msg = '', pid: _pid, hostname: _hostname, err, ...fields } = JSON.parse(line) as Entry
  const label = (pino.levels.labels[level] ?? `${level}`).toUpperCase().padEnd(5)
  const words = Object.entries(fields).map(([name, value]) => `${name}=${valueText(value)}`)
  const first = printable([time, label, msg, ...words].join(' '))
  return err?.stack === undefined ? `${first}\n` : `${first}\n${printableLines(err.stack).replace(/^/gm, '    ')}\n`
}

/** A value in quotes unless it is one word. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
