import createClient from 'openapi-fetch'
import type { paths } from './api.ts'
import { checkedKey } from './apiKey.ts'
import { type BatchOptions, inBatches } from './batches.ts'
import { TributaryError } from './error.ts'
import { exportBatches } from './exportRows.ts'
import { openRetries, type RetryOptions } from './retries.ts'
import type {
  CallOptions,
  Event,
  ExportArguments,
  ExportedRow,
  ExportOptions,
  ExportPath,
  FieldOf,
  JsonOf,
  ListPath,
  QueryOf,
  ReadArguments,
  ReadPath,
  ResponseOf,
  RowFieldOf,
  RowOf,
  SentEvents,
} from './types.ts'

export { checkedKey } from './apiKey.ts'
export { readText } from './bodyText.ts'
export { TributaryError } from './error.ts'
export { type RowResult, type SendRowsOptions, sendRows } from './sendRows.ts'
export type * from './types.ts'

/** Address and key of the API, and how to retry. */
export interface TributaryOptions extends RetryOptions {
  /** For example `https://api.example.com`; the client adds `/api/v1`. */
  baseUrl: string
  apiKey: string
}

/** The response to an event, with the `event_id` that was sent. */
export type SentEvent = JsonOf<paths['/events']['post']['responses'][200]> & { eventId: string }

/** A client with the types of the OpenAPI document. Every method retries requests that are safe to retry. */
export interface Tributary {
  /**
   * Sends one GET request.
   * @throws TributaryError if the status is not 200, or the response is not JSON or longer than 64 MiB; the error of `fetch`
   *   if there is no response
   */
  get<Path extends ReadPath>(path: Path, ...request: ReadArguments<Path>): Promise<ResponseOf<Path>>
  /**
   * Reads all pages of a list or a report; the next page is requested when the caller has consumed the last one.
   * @throws as `get`; TributaryError when the pages would never end
   */
  pages<Path extends ListPath>(path: Path, ...request: ReadArguments<Path>): AsyncGenerator<ResponseOf<Path>, void>
  /**
   * Reads all rows of a list or a report, page by page. A report may change between its pages.
   * `for await (const click of tributary.rows('/clicks', { query: { from: '2026-11-01' } }))`
   * @throws as `get`
   */
  rows<Path extends ListPath>(path: Path, ...request: ReadArguments<Path>): AsyncGenerator<RowOf<Path>, void>
  /**
   * Streams all rows of a list in one response, for millions of rows; after a broken connection it continues behind the last
   * row. Leave the loop to end the export. An account may have two exports at a time.
   * `for await (const click of tributary.exportRows('/clicks', { query: { from: '2026-11-01' } }))`
   * @throws as `get`; the network error after `retries` interruptions without a row between; TributaryError when a line is not
   *   a row, or is longer than 4 MiB
   */
  exportRows<Path extends ExportPath, Field extends FieldOf<Path> = RowFieldOf<Path>>(
    path: Path,
    ...request: ExportArguments<Path, Field>
  ): AsyncGenerator<ExportedRow<Path, Field>, void>
  /**
   * As `exportRows`, in arrays of the rows that arrive together: for loading many rows, a loop over single rows takes several
   * times as long.
   */
  exportBatches<Path extends ExportPath, Field extends FieldOf<Path> = RowFieldOf<Path>>(
    path: Path,
    ...request: ExportArguments<Path, Field>
  ): AsyncGenerator<ExportedRow<Path, Field>[], void>
  /**
   * Streams a list as a file. A broken connection is an error of the stream; a partial file cannot look complete.
   * @throws as `get`
   */
  exportFile<Path extends ExportPath>(
    path: Path,
    format: 'ndjson' | 'csv' | 'parquet',
    ...request: ExportArguments<Path>
  ): Promise<ReadableStream<Uint8Array>>
  /**
   * Sends an event. An event without `event_id` gets a generated one, so that retries store it once. Set your own
   * `event_id` if your process may end before it receives the response.
   * @throws as `get`
   */
  sendEvent(event: Event, options?: CallOptions): Promise<SentEvent>
  /**
   * Sends events in batches, one batch at a time; the next events are requested when a batch is acknowledged. A batch is
   * retried with the same ids, so that its events are stored once.
   * @returns the number of events by result, and the rejected events
   * @throws as `get`, if a batch is not acknowledged after all retries; its events may be stored or not. Also the error of
   *   `events`. The property `sent` of the error has the events of earlier batches
   */
  sendEvents(events: Iterable<Event> | AsyncIterable<Event>, options?: CallOptions & BatchOptions): Promise<SentEvents>
  /**
   * Reads all events of a list. `for await (const event of tributary.events({ query: { event_name: 'signup' } }))`
   * @throws as `get`
   */
  events(...request: ReadArguments<'/events'>): AsyncGenerator<RowOf<'/events'>, void>
  /**
   * Reads a funnel. `await tributary.funnel(['visit', 'signup', 'purchase'], { query: { window: '30d' } })`
   * @param steps two to eight event names, `click` or `conversion`
   * @throws as `get`
   */
  funnel(steps: readonly string[], request?: FunnelArguments): Promise<ResponseOf<'/funnels'>>
  /**
   * Reads all rows of a journey, oldest first: clicks, events and conversions, by `kind`.
   * `for await (const row of tributary.journey({ visitor_id: 'vis-1042' })) console.log(row.at, row.kind)`
   * @throws as `get`
   */
  journey(of: { visitor_id: string } | { click_id: string }, options?: CallOptions): AsyncGenerator<JourneyRow, void>
}

/** A row of a journey; `kind` decides the other fields. */
export type JourneyRow = RowOf<'/journeys'>

/** The other parameters of a funnel. */
export type FunnelArguments = CallOptions & { query?: Omit<QueryOf<'/funnels'>, 'steps'> }

/** The arguments of any path. */
type AnyRequest = ExportOptions & { query?: object; path?: object }

/** The result of any call of openapi-fetch. */
type Fetched = { data?: unknown; error?: unknown; response: Response }

/**
 * Creates a client for one key. It needs no closing.
 * @throws TributaryError `invalid_api_key` when the key has characters that no key has; the message does not show the key
 */
export function createTributary({ baseUrl, apiKey, ...options }: TributaryOptions): Tributary {
  const retries = openRetries(options)
  const client = createClient<paths>({
    baseUrl: `${/^.*[^/]/s.exec(baseUrl)?.[0] ?? ''}/api/v1`,
    headers: { Authorization: `ApiKey ${checkedKey(apiKey)}` },
    fetch: retries.fetch,
  })

  async function send(path: ReadPath, { signal, query, path: ids }: AnyRequest, parseAs: 'json' | 'stream') {
    // The types of the methods check the parameters; openapi-fetch cannot infer them from a variable path.
    return await client
      .GET(path as '/clicks', {
        params: { ...(query && { query: withLists(query) }), ...(ids && { path: ids }) } as object,
        parseAs,
        ...(parseAs === 'stream' && { fetch: retries.fetchStream }),
        ...(signal && { signal }),
      })
      .catch((error: unknown) => {
        if (!(error instanceof SyntaxError)) throw error
        throw new TributaryError(200, { message: 'The response is not JSON.' })
      })
  }

  async function get<Path extends ReadPath>(path: Path, ...[request]: ReadArguments<Path>): Promise<ResponseOf<Path>> {
    return bodyOf(await send(path, request ?? {}, 'json')) as ResponseOf<Path>
  }

  async function* pages<Path extends ListPath>(path: Path, ...[request]: ReadArguments<Path>) {
    let query: object | undefined = { ...(request as AnyRequest | undefined)?.query }
    while (query) {
      const page: ResponseOf<Path> = await get(path, ...([{ ...request, query }] as unknown as ReadArguments<Path>))
      yield page
      query = nextQuery(query, page as AnyPage)
    }
  }

  async function* rows<Path extends ListPath>(path: Path, ...request: ReadArguments<Path>) {
    for await (const page of pages(path, ...request)) yield* (page as { data: RowOf<Path>[] }).data
  }

  async function* exported<Path extends ExportPath, Field extends FieldOf<Path>>(
    path: Path,
    ...[request]: ExportArguments<Path, Field>
  ) {
    const { query = {}, ...rest }: AnyRequest = request ?? {}
    const open = async (query: object) => okResponse(await send(path, { ...rest, query }, 'stream'))
    yield* exportBatches<ExportedRow<Path, Field>>(open, query, rest, retries)
  }

  return {
    get,
    pages,
    rows,
    exportBatches: exported,
    async *exportRows(path, ...request) {
      for await (const rows of exported(path, ...request)) yield* rows
    },
    async exportFile(path, format, ...[request]) {
      const { query, fields, onAsOf, ...rest }: AnyRequest = request ?? {}
      const { body, headers } = okResponse(await send(path, { ...rest, query: { ...query, fields, format } }, 'stream'))
      const asOf = headers.get('x-as-of')
      if (asOf) onAsOf?.(asOf)
      return body ?? new Blob([]).stream()
    },
    async sendEvent(event, { signal } = {}) {
      const eventId = event.event_id ?? crypto.randomUUID()
      const body = { ...event, event_id: eventId }
      const response = bodyOf(await client.POST('/events', { body, ...(signal && { signal }) }))
      return { ...response, eventId }
    },
    async sendEvents(events, options = {}) {
      const { signal } = options
      const sent: SentEvents = { stored: 0, deduplicated: 0, overCeiling: 0, rejected: [] }
      try {
        for await (const batch of inBatches(events, weighEvent, eventLimits, options)) {
          const body = { events: batch }
          const result = bodyOf(await client.POST('/events/batch', { body, ...(signal && { signal }) }))
          sent.stored += result.stored
          sent.deduplicated += result.deduplicated
          sent.overCeiling += result.overCeiling
          for (const item of result.results) {
            const event = batch[item.index]
            if (!('error' in item) || !event) continue
            const { index: _index, ...reason } = item
            sent.rejected.push({ ...reason, event, eventId: event.event_id })
          }
        }
      } catch (error) {
        // It fails for a frozen error.
        if (error instanceof Error) Reflect.set(error, 'sent', sent)
        throw error
      }
      return sent
    },
    events: (...request) => rows('/events', ...request),
    funnel: (steps, { query, ...options } = {}) =>
      get('/funnels', { ...options, query: { ...query, steps: steps.join(',') } }),
    journey: (of, options) => rows('/journeys', { ...options, query: of }),
  }
}

/** What `POST /events/batch` takes, less the frame of a batch; bytes less a margin. */
const eventLimits = { items: 1_000, bytes: 3_500_000, marks: 127_000 }
const encoder = new TextEncoder()

/** An event without `event_id` gets a generated one. */
function weighEvent(given: Event) {
  const event = { ...given, event_id: given.event_id ?? crypto.randomUUID() }
  const json = JSON.stringify(event)
  const marks = json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[^,:[\]{}"]+/g, '').length + 1
  return { item: event, bytes: encoder.encode(json).length + 1, marks }
}

/** Writes conditions as JSON, and each other array as a list: its values are literal, also with a comma or a leading `!`. */
function withLists(query: object): object {
  const literal = (value: unknown) => `${value}`.replace(/[\\,]/g, '\\$&')
  const textOf = (name: string, value: unknown) => {
    if (!Array.isArray(value)) return value
    return name === 'filters' ? JSON.stringify(value) : value.map(literal).join(',').replace(/^!/, '\\!')
  }
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, textOf(name, value)]))
}

type AnyPage = { nextCursor?: unknown; truncated?: boolean; next?: unknown }

/**
 * The query of the page after a page of a list or a report.
 * @returns undefined after the last page
 * @throws TributaryError when the pages would never end, or when a report has more rows than its pages can have
 */
function nextQuery(query: { cursor?: unknown; offset?: unknown }, { nextCursor, truncated, next }: AnyPage) {
  if (nextCursor === null || truncated === false) return undefined
  if (typeof nextCursor === 'string' && nextCursor !== query.cursor) return { ...query, cursor: nextCursor }
  const after = typeof next === 'string' && Object.fromEntries(new URLSearchParams(next))
  if (after && after.offset !== `${query.offset}`) return after
  const lack = truncated ? 'no query of the next page: select fewer rows' : 'no rows or no new cursor'
  throw new TributaryError(200, { message: `The page says that rows follow, but has ${lack}.` })
}

/** @throws TributaryError if the status is not 200 or the body is empty */
function bodyOf<Body>({ data, error, response }: { data?: Body; error?: unknown; response: Response }): Body {
  okResponse({ error, response })
  if (data === undefined) throw new TributaryError(response.status, {})
  return data
}

/** @throws TributaryError if the status is not 200 */
function okResponse({ error, response }: Fetched): Response {
  if (response.status === 200) return response
  throw new TributaryError(response.status, error)
}
