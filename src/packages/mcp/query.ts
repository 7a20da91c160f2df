import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { failure, result } from './result.ts'

const rowsMax = 1_000
const rowsDefault = 100

/** The longest time of a query. */
const timeMaxMs = 20_000

/** The most memory of the process of a query, bytes. */
export const memoryMax = 1_000_000_000

/** What the process of a query reads. */
export interface Query {
  /** A file of DuckDB. */
  file: string
  sql: string
  limit: number
  /** A folder for what does not fit into memory. */
  temporary: string
}

/**
 * `asOf`, the time before which all rows are copied, null if the copy of a resource is not complete; the columns; each row as JSON;
 * and whether the result has no further rows.
 */
export type Reply = { asOf: unknown; columns: string[]; rows: string[]; isComplete: boolean } | { error: string }

/** The tool that queries a copy of tributary-sync. */
export const queryTool = {
  name: 'query',
  title: 'SQL on a copy of the rows',
  description: `Runs one SELECT of DuckDB on a copy of the account's rows.
Tables: clicks, conversions, costs, events (properties is JSON), campaigns, offers, landing_pages, traffic_sources, countries; DESCRIBE clicks
lists columns. Views click_details, conversion_details, cost_details, event_details add names.
report('campaign', '2026-11-01', '2026-12-01') and daily('Europe/Berlin', '2026-11-01', '2026-11-30') return the numbers of reports:
clicks with NOT is_bot AND NOT is_test, conversions with NOT is_test, revenue of status 'approved', cost of clicks and costs. Amounts in the
account's currency: cost_base, revenue_base. Times are UTC.`,
  inputSchema: {
    type: 'object' as const,
    properties: {
      sql: { type: 'string', description: 'One SELECT, with aggregates where possible.' },
      limit: { type: 'integer', default: rowsDefault, maximum: rowsMax, description: 'Rows of the result.' },
    },
    required: ['sql'],
    additionalProperties: false,
  },
}

/**
 * Runs a query on a copy in a process of its own, which has the file open only meanwhile: tributary-sync can write it between queries.
 * @param file of DuckDB
 * @param signal ends the query
 * @returns the rows as JSON, and whether there are more; errors in the words of DuckDB; an error after `timeMs` or above `memoryMax`
 */
export async function queryCopy(
  file: string,
  { sql, limit = rowsDefault }: Record<string, unknown>,
  signal: AbortSignal,
  timeMs = timeMaxMs,
): Promise<CallToolResult> {
  if (typeof sql !== 'string' || sql.trim() === '') return failure('sql must be a SELECT.')
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > rowsMax) {
    return failure(`limit must be 1 to ${rowsMax}; aggregate the rows.`)
  }
  const child = fork(new URL('./queryProcess.js', import.meta.url), {
    execArgv: ['--max-old-space-size=256'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const temporary = `${file}.query-${child.pid}`
  const [timeout, exit] = [AbortSignal.timeout(timeMs), new AbortController()]
  const exited = once(child, 'exit').then(
    () => exit.abort(),
    () => exit.abort(),
  )
  try {
    child.send({ file, sql, limit: Number(limit), temporary } satisfies Query)
    const [reply] = (await once(child, 'message', { signal: AbortSignal.any([signal, timeout, exit.signal]) })) as [
      Reply,
    ]
    if ('error' in reply) return failure(reply.error)
    const { asOf, columns, rows, isComplete } = reply
    if (rows.length === 0 && !isComplete)
      return failure('A row is too long; select fewer columns, or substr(column, 1, 200).')
    const hint = `These are the first ${rows.length} rows. Aggregate, filter or select fewer columns.`
    const head = JSON.stringify({ asOf, columns }).slice(0, -1)
    return result(`${head},"rows":[${rows}]}`, isComplete ? undefined : hint)
  } catch (error) {
    if (timeout.aborted) return failure(`The query took longer than ${timeMs / 1_000} s; select a shorter range.`)
    if (!exit.signal.aborted) return failure((error as Error).message)
    return failure(
      `The query needs more than ${memoryMax / 1e9} GB of memory; aggregate, filter or select fewer columns.`,
    )
  } finally {
    child.kill('SIGKILL')
    await exited
    await rm(temporary, { recursive: true, force: true })
  }
}
