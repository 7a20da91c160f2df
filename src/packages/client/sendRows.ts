import { checkedKey } from './apiKey.ts'
import { type BatchOptions, inBatches } from './batches.ts'
import { TributaryError } from './error.ts'
import { openRetries, type RetryOptions, readWhole } from './retries.ts'
import type { CallOptions, FeedRow } from './types.ts'

/** Address and token of a feed, and how to retry; `retries` is unlimited by default. */
export interface SendRowsOptions extends RetryOptions, BatchOptions, CallOptions {
  /** Of `tributary feed`: `http://127.0.0.1:3100`; the client adds `/rows`. */
  url: string
  /** Its `FEED_TOKEN`. */
  token: string
  /** `updatedAt` of conversions and costs without one. */
  updatedAt?: string
}

const finals = ['inserted', 'updated', 'duplicate', 'older', 'conflict', 'rejected'] as const

/** What became of a row; it is final. */
export interface RowResult {
  result: (typeof finals)[number]
  /** Of `conflict` and `rejected`. */
  reason?: string
  /** What a sender may correct in a row that is stored. */
  notes?: string[]
}

/** The feed takes 16 MiB. */
const bytesMax = 8 << 20
const requestLimits = { items: 10_000, bytes: bytesMax, marks: Number.POSITIVE_INFINITY }
const encoder = new TextEncoder()

/**
 * Sends rows to `tributary feed`, one request at a time, and yields the result of each row, in order. Rows without a final result are sent
 * again while the feed is unavailable, or another writer has their account.
 * @param rows a text is a row as one line of JSON
 * @throws TributaryError if the feed refuses a request, or a response is not one of a feed; the reason of `signal`; the error of `rows`.
 *   Rows that got no result may be stored; sending them again changes nothing
 */
export async function* sendRows(
  rows: Iterable<FeedRow | string> | AsyncIterable<FeedRow | string>,
  { url, token, updatedAt, ...options }: SendRowsOptions,
): AsyncGenerator<RowResult, void> {
  const { signal } = options
  const { repeat } = openRetries({ retries: Number.POSITIVE_INFINITY, ...options })
  const query = updatedAt === undefined ? '' : `?updated_at=${encodeURIComponent(updatedAt)}`
  const address = `${/^.*[^/]/s.exec(url)?.[0] ?? ''}/rows${query}`
  const headers = { Authorization: `Bearer ${checkedKey(token, 'token')}`, 'Content-Type': 'application/x-ndjson' }

  for await (const batch of inBatches(rows, readLine, requestLimits, options)) {
    const results = batch.map(({ refused }) => refused)
    const open = () => batch.filter((_, index) => !results[index])
    const request = () => {
      const body = open().map(({ text }) => `${text}\n`)
      return new Request(address, { method: 'POST', headers, body: body.join(''), ...(signal && { signal }) })
    }
    const read = async (response: Response) => {
      const whole = await readWhole(response)
      const isOfRows = [200, 503].includes(whole.status) && whole.headers.get('content-type')?.includes('ndjson')
      if (!isOfRows) return whole
      const found = readResults(await whole.clone().text(), open().length)
      for (const index of results.keys()) results[index] ??= found.shift()
      return open().length === 0 ? new Response() : whole
    }
    if (open().length > 0) {
      const response = await repeat(request, read)
      if (open().length > 0) throw new TributaryError(response.status, parsed(await response.text()))
    }
    for (const result of results) if (result) yield result
  }
}

/** A row as text, and its result if it is not sent. */
interface Line {
  text: string
  refused: RowResult | undefined
}

function readLine(row: FeedRow | string): { item: Line; bytes: number; marks: number } {
  const text = typeof row === 'string' ? row : JSON.stringify(row)
  const bytes = encoder.encode(text).length + 1
  const isLine = /\S/.test(text) && !text.includes('\n')
  if (isLine && bytes <= bytesMax) return { item: { text, refused: undefined }, bytes, marks: 0 }
  const reason = isLine ? `is longer than ${bytesMax} bytes` : 'is not one line of JSON'
  return { item: { text: '', refused: { result: 'rejected', reason } }, bytes: 0, marks: 0 }
}

/** @returns the results of a response; undefined: not final @throws TributaryError unless each row has a result */
function readResults(text: string, count: number): (RowResult | undefined)[] {
  const lines = text.split('\n', count + 2)
  if (lines[count] !== '' || lines.length > count + 1)
    throw new TributaryError(200, { message: `The response does not have ${count} results.` })
  return lines.slice(0, count).map((line) => {
    const found = parsed(line) as RowResult | { result: 'retry' } | null | undefined
    if (found?.result === 'retry') return undefined
    if (found && finals.includes(found.result)) return found
    throw new TributaryError(200, { message: 'A line of the response is not the result of a row.' })
  })
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
