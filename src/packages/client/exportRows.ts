import type { Retries } from './retries.ts'
import type { ExportOptions } from './types.ts'

/** Sends the request of an export. @throws TributaryError if the status is not 200 */
export type OpenExport = (query: object) => Promise<Response>

/**
 * Streams the rows of an export, in arrays of those that arrive together. If the connection breaks, the export continues after
 * the last row: no row is missing or repeated. Memory is constant.
 * @param query parameters of the list
 * @throws the error of `open`; the network error if the export is interrupted again and again without a row between
 */
export async function* exportBatches<Row extends { cursor: string }>(
  open: OpenExport,
  query: object,
  { signal, onAsOf, fields }: ExportOptions,
  retries: Retries,
): AsyncGenerator<Row[], void> {
  const selected = fields ? { ...query, fields: [...fields, 'cursor'].join(',') } : query
  let cursor: string | undefined
  let interruptions = 0
  for (;;) {
    const response = await open({ ...selected, format: 'ndjson', ...(cursor !== undefined && { cursor }) })
    const asOf = response.headers.get('x-as-of')
    if (cursor === undefined && interruptions === 0 && asOf) onAsOf?.(asOf)
    const parts = readLines(response)
    try {
      for (;;) {
        const part = await parts.next().catch((error: unknown) => {
          signal?.throwIfAborted()
          if (interruptions >= retries.max) throw error
          return undefined
        })
        if (!part) break
        if (part.done) return
        const rows: Row[] = part.value.map((line) => JSON.parse(line))
        const last = rows.at(-1)
        if (!last) continue
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

/** Yields the complete lines of each part of a body. A line that a broken connection cuts is dropped. */
async function* readLines({ body }: Response): AsyncGenerator<string[], void, void> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      yield lines
    }
  } finally {
    // The body of a broken connection cannot be cancelled any more.
    await reader.cancel().catch(() => {})
  }
}
