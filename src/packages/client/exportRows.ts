import { TributaryError } from './error.ts'
import type { Retries } from './retries.ts'
import type { ExportOptions } from './types.ts'

/** Characters of a line; the longest row is shorter. */
const lineMax = 4 * 1_048_576

/**
 * Streams the rows of an export, in arrays of rows that arrive together. If the connection breaks, the export continues after
 * the last row: no row is missing or repeated. Memory is constant.
 * @param open sends the request of an export
 * @param query parameters of the list
 * @throws the error of `open`; the network error if the export is interrupted again and again without a row between;
 *   TributaryError when a line is not a row with a cursor, is too long, or does not follow the row before
 */
export async function* exportBatches<Row extends { cursor: string }>(
  open: (query: object) => Promise<Response>,
  query: object,
  { signal, onAsOf, fields, parse = JSON.parse }: ExportOptions,
  retries: Retries,
): AsyncGenerator<Row[], void> {
  const selected = fields ? { ...query, fields: [...fields, 'cursor'] } : query
  let cursor: string | undefined
  let interruptions = 0
  for (;;) {
    const response = await open({ ...selected, format: 'ndjson', ...(cursor !== undefined && { cursor }) })
    const asOf = response.headers.get('x-as-of')
    if (cursor === undefined && interruptions === 0 && asOf) onAsOf?.(asOf)
    const parts = completeLines(response)
    try {
      for (;;) {
        const part = await parts.next().catch((error: unknown) => {
          signal?.throwIfAborted()
          if (interruptions >= retries.max || error instanceof TributaryError) throw error
          return undefined
        })
        if (!part) break
        if (part.done) return
        const rows = part.value.map((line) => parseExportedRow<Row>(line, parse))
        const last = rows.at(-1)
        if (!last) continue
        // Otherwise an export that breaks after each row would never end.
        if (last.cursor === cursor) throw unreadable('repeats the row before')
        interruptions = 0
        cursor = last.cursor
        yield rows
      }
    } finally {
      await parts.return()
    }
    await retries.pause(interruptions, signal)
    interruptions += 1
  }
}

function parseExportedRow<Row extends { cursor: string }>(line: string, parse: (line: string) => unknown): Row {
  let row: Row | null
  try {
    row = parse(line) as Row | null
  } catch {
    throw unreadable('is not JSON')
  }
  if (typeof row?.cursor !== 'string' || row.cursor === '') throw unreadable('has no cursor')
  return row
}

const unreadable = (reason: string) => new TributaryError(200, { message: `A line of the export ${reason}.` })

/** Yields the complete lines of each part of a body. @throws Error if the body ends in the middle of a line, which is dropped */
async function* completeLines({ body }: Response): AsyncGenerator<string[], void, void> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      // A proxy may end the body of a broken connection like a complete one.
      if (done && rest !== '') throw new Error('The export ended in the middle of a line.')
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > lineMax) throw unreadable(`is longer than ${lineMax / 1_048_576} MiB`)
      yield lines
    }
  } finally {
    // The body of a broken connection cannot be cancelled any more.
    await reader.cancel().catch(() => {})
  }
}
