import { TemporaryError } from './errors.ts'
import { type ChangingResource, type Resource, subIdNames } from './resources.ts'

// Responses and stored states are checked here before any other code uses them.

export type Row = Record<string, unknown>

/** Whether a value is a day of the calendar, such as `2026-11-20`. */
export function isDay(value: unknown): value is string {
  return typeof value === 'string' && isInstant(`${value}T00:00:00Z`)
}

/** Whether a value is a UTC time as in a response, such as `2026-11-20T10:00:00.000Z`. */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/.test(value)) return false
  const ms = Date.parse(value)
  // TRAP: Date.parse accepts 30 February.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.slice(0, 10))
}

/** @returns whether a value is a text that matches */
function isTextOf(pattern: RegExp) {
  return (value: unknown): value is string => typeof value === 'string' && pattern.test(value)
}

export const isCursor = isTextOf(/^[\x21-\x7e]{1,2048}$/)
export const isAccountId = isTextOf(/^[\w.:-]{1,64}$/)
export const isFieldName = isTextOf(/^[A-Za-z]\w{0,62}$/)
/** The text of an amount with decimals. */
const isDecimal = isTextOf(/^-?\d{1,12}\.\d{1,6}$/)
export const isHash = isTextOf(/^[0-9a-f]{15}$/)

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Checks a value of a response.
 * @param path of the request
 * @throws TemporaryError that names the field and the value
 */
export function received<Value>(
  path: string,
  field: string,
  value: unknown,
  isValid: (value: unknown) => value is Value,
): Value {
  if (isValid(value)) return value
  throw invalidResponse(path, field, value)
}

function invalidResponse(path: string, field: string, value: unknown): TemporaryError {
  const text = JSON.stringify(value) ?? 'missing'
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return new TemporaryError(`the response of ${path} is not valid: ${field} is ${shown}; check --url.`)
}

/** Checks the list `data` of a response. @throws TemporaryError */
export function receivedRows(path: string, { data }: { data: unknown }): Row[] {
  return received(path, 'data', data, (value): value is Row[] => Array.isArray(value) && value.every(isRecord))
}

/** Checks `retainedFrom` of a response. @returns its day; empty if it is absent @throws TemporaryError */
export function receivedRetainedDay(path: string, response: object): string {
  const { retainedFrom } = response as { retainedFrom?: unknown }
  return retainedFrom === undefined ? '' : received(path, 'retainedFrom', retainedFrom, isInstant).slice(0, 10)
}

/** @throws TemporaryError when a row has no valid key, time or cursor, or a stored field of another type */
export function checkRows(resource: Resource, rows: readonly Row[]): void {
  const fields = Object.entries(resource.fields).map(([field, declared]) => {
    const type = declared.replace(/ NOT NULL$/, '')
    return { field, isNullable: type === declared && !resource.key.includes(field), isValid: isOfType[type] }
  })
  for (const row of rows) {
    received(resource.path, 'a row', row, isRecord)
    received(resource.path, 'cursor of a row', row.cursor, isCursor)
    const subIds = row.subIds == null ? undefined : received(resource.path, 'subIds of a row', row.subIds, isRecord)
    for (const { field, isNullable, isValid } of fields) {
      const value = subIdNames.has(field) ? subIds?.[field] : row[field]
      if (value == null ? isNullable : isValid?.(value)) continue
      throw invalidResponse(resource.path, `${field} of a row`, value)
    }
  }
}

/** As `checkRows`, for an export of one UTC day: its rows belong to the day. @throws TemporaryError */
export function checkDay(resource: ChangingResource, day: string, rows: readonly Row[]): void {
  checkRows(resource, rows)
  const { path, time } = resource
  const other = rows.find((row) => !`${row[time]}`.startsWith(day))
  if (other) throw invalidResponse(path, `${time} of a row of ${day}`, other[time])
}

const longNumber = /:-?[\d.]{16}/
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs

/** Parses a row of an export. An amount becomes a text if a double would lose its digits. @throws SyntaxError */
export function parseRow(line: string): unknown {
  if (!longNumber.test(line)) return JSON.parse(line)
  const isLost = (token: string) => isDecimal(token) && `${Number(token)}` !== token
  return JSON.parse(line.replace(textOrNumber, (token) => (isLost(token) ? `"${token}"` : token)))
}

/** Whether a value of an export has a SQL type. JSON in an export is text. */
const isOfType: Record<string, (value: unknown) => boolean> = {
  text: isText,
  json: isText,
  timestamptz: isInstant,
  boolean: (value) => typeof value === 'boolean',
  bigint: isCount,
  'double precision': Number.isFinite,
  'numeric(18,6)': (value) => Number.isFinite(value) || isDecimal(value),
  'text[]': (value) => Array.isArray(value) && value.every(isText),
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0')
}
