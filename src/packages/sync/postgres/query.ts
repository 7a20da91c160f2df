import postgres from 'postgres'
import { checkParameters, type ReadableCopy, readAsOf, timeJson } from '../database/query.ts'
import { databaseOf } from './tables.ts'

/** Rows of one part of a result. */
const partRows = 1_000

/** Types of PostgreSQL by their numbers. */
const numberTypes = new Set([20, 21, 23, 26, 700, 701, 1700])
const jsonTypes = [114, 3802]
/** Days, and times without and with time zone. */
const timeTypes = [1082, 1114, 1184]

const textType = 25

/** Values that the driver would convert to objects. */
const texts = { to: textType, from: [...jsonTypes, ...timeTypes], serialize: String, parse: (text: string) => text }

/** Settings that change how literals are read and values are printed. A database or a role may have others. */
const settings = `
  SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, MDY'; SET LOCAL IntervalStyle = 'postgres';
  SET LOCAL extra_float_digits = '1'; SET LOCAL bytea_output = 'hex'; SET LOCAL standard_conforming_strings = 'on';
  SET LOCAL backslash_quote = 'safe_encoding'; SET LOCAL array_nulls = 'on'; SET LOCAL transform_null_equals = 'off';
  SET LOCAL xmlbinary = 'base64'; SET LOCAL xmloption = 'content';
  SET LOCAL lc_monetary = 'C'; SET LOCAL lc_numeric = 'C'; SET LOCAL lc_time = 'C';
  SET LOCAL timezone_abbreviations = 'Default'; SET LOCAL default_text_search_config = 'pg_catalog.english'`

/**
 * Opens a copy for statements that read, in a transaction that cannot write.
 * @param schema a checked name
 * @param signal ends a statement
 */
export async function openReadableCopy(url: string, schema: string, signal: AbortSignal): Promise<ReadableCopy> {
  const connection = { application_name: 'tributary-sync' }
  const sql = postgres(url, { max: 1, onnotice() {}, types: { texts }, connection })
  // TRAP: not sql.begin(): a connection that breaks within it ends the process.
  const begin = sql.unsafe(`BEGIN READ ONLY; SET LOCAL search_path TO ${schema}, public; ${settings}`)
  await begin.catch(async (error) => {
    await sql.end({ timeout: 1 })
    throw error
  })
  return {
    asOf: () => readAsOf(databaseOf(sql), schema),
    async query(statement, given) {
      const { text, names } = withNumbers(statement)
      checkParameters(names, given)
      const values = names.map((name) => sql.typed(given[name], textType))
      // Prepared statements are single ones.
      const { columns } = await sql.unsafe(text, values).describe()
      const pending = sql.unsafe(text, values).values()
      signal.addEventListener('abort', () => void pending.cancel(), { once: true })
      const jsonIn = (row: unknown[]) => row.map((value, index) => jsonOf(columns[index]?.type ?? 0, value))
      async function* parts() {
        for await (const rows of pending.cursor(partRows)) yield (rows as unknown[][]).map(jsonIn)
      }
      return { columns: columns.map(({ name }) => name), parts: parts() }
    },
    close: () => sql.end({ timeout: 5 }),
  }
}

/** Texts, quoted names, comments, and after them the names of parameters. */
const tokens =
  /\be'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(?<tag>\w*)\$.*?\$\k<tag>\$|(?<!\w)\$(?<name>[a-z_]\w*)/gis

/** Writes the parameters `$name` of a statement, which DuckDB has, as PostgreSQL has them. @returns the names of `$1`, `$2`, … */
function withNumbers(statement: string): { text: string; names: string[] } {
  const names: string[] = []
  const text = statement.replace(tokens, (token, ...rest) => {
    const { name } = rest.at(-1) as { name?: string }
    if (name === undefined) return token
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { text, names }
}

/** @param type number of the type of a value */
function jsonOf(type: number, value: unknown): string {
  if (value === null) return 'null'
  if (jsonTypes.includes(type)) return `${value}`
  if (numberTypes.has(type) && Number.isFinite(Number(value))) return `${value}`
  if (timeTypes.includes(type)) return timeJson(`${value}`)
  return JSON.stringify(value)
}
