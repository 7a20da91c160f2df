import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'
import { openRetries, type RetryOptions } from './retries.ts'

/** Address and key of the API, and how to retry. */
export interface TributaryOptions extends RetryOptions {
  /** For example `https://api.example.com`; the client adds `/api/v1`. */
  baseUrl: string
  apiKey: string
}

type Problem = components['schemas']['Problem']
type Json<Message> = Message extends { content: { 'application/json': infer Body } } ? Body : never

/** A path with a GET operation, as in the documentation: `/clicks`, `/campaigns/{id}`. */
export type ReadPath = { [Path in keyof paths]: paths[Path] extends { get: object } ? Path : never }[keyof paths]
/** The response body of a path. */
export type ResponseOf<Path extends ReadPath> = paths[Path] extends { get: { responses: { 200: infer Response } } }
  ? Json<Response>
  : never
/** A path with pages. */
export type ListPath = {
  [Path in ReadPath]: ResponseOf<Path> extends { data: unknown[]; nextCursor: string | null } ? Path : never
}[ReadPath]
/** A row of a list. */
export type RowOf<Path extends ListPath> = ResponseOf<Path> extends { data: (infer Row)[] } ? Row : never
/** The body of `POST /events`. */
export type Event = Json<NonNullable<paths['/events']['post']['requestBody']>>
/** The response to an event, with the `event_id` that was sent. */
export type SentEvent = Json<paths['/events']['post']['responses'][200]> & { eventId: string }

type Parameters<Path extends ReadPath> = paths[Path] extends { get: { parameters: infer Declared } }
  ? Pick<Declared, Extract<keyof Declared, 'query' | 'path'>>
  : never
interface CallOptions {
  /** Aborts the request, its waits and its retries. */
  signal?: AbortSignal
}
/** `query` and `path` of a request; optional if no parameter is required. */
type RequestArguments<Path extends ReadPath> =
  object extends Parameters<Path>
    ? [request?: Parameters<Path> & CallOptions]
    : [request: Parameters<Path> & CallOptions]

/** The same for any path. */
type AnyRequest = CallOptions & { query?: object; path?: object }

/** A client with the types of the OpenAPI document. Every method retries requests that are safe to retry. */
export interface Tributary {
  /**
   * Sends one GET request.
   * @throws TributaryError if the status is not 200; the error of `fetch` if there is no response
   */
  get<Path extends ReadPath>(path: Path, ...request: RequestArguments<Path>): Promise<ResponseOf<Path>>
  /**
   * Reads all pages of a list; the next page is requested when the caller has consumed the last one.
   * @throws as `get`
   */
  pages<Path extends ListPath>(path: Path, ...request: RequestArguments<Path>): AsyncGenerator<ResponseOf<Path>, void>
  /**
   * Reads all rows of a list. `for await (const click of tributary.rows('/clicks', { query: { from: '2026-11-01' } }))`
   * @throws as `get`
   */
  rows<Path extends ListPath>(path: Path, ...request: RequestArguments<Path>): AsyncGenerator<RowOf<Path>, void>
  /**
   * Sends an event. An event without `event_id` gets a generated one, so that retries store it once. Set your own
   * `event_id` if your process may end before it receives the response.
   * @throws as `get`
   */
  sendEvent(event: Event, options?: CallOptions): Promise<SentEvent>
}

/** A response with a status other than 200. */
export class TributaryError extends Error {
  override readonly name = 'TributaryError'
  readonly status: number
  /** Error code of the API; `unreadable_answer` if the response did not come from the API. */
  readonly code: string
  /** The invalid parameter or field. */
  readonly param: string | undefined
  /** Include it in support requests. */
  readonly requestId: string | undefined

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.message ?? `The response has status ${status} and no message.`)
    this.status = status
    this.code = problem.error ?? 'unreadable_answer'
    this.param = problem.param
    this.requestId = problem.requestId
  }
}

/** The result of any call of openapi-fetch. */
interface Fetched {
  data?: unknown
  error?: unknown
  response: Response
}

/** Creates a client for one key. It needs no closing. */
export function createTributary({ baseUrl, apiKey, ...retries }: TributaryOptions): Tributary {
  const client = createClient<paths>({
    baseUrl: `${baseUrl.replace(/\/+$/, '')}/api/v1`,
    headers: { Authorization: `ApiKey ${apiKey}` },
    fetch: openRetries(retries),
  })

  async function get<Path extends ReadPath>(
    path: Path,
    ...[request]: RequestArguments<Path>
  ): Promise<ResponseOf<Path>> {
    const { signal, ...params }: AnyRequest = request ?? {}
    // `RequestArguments` checks the parameters of the path; openapi-fetch cannot infer them from a variable path.
    const fetched: Fetched = await client.GET(path as '/clicks', {
      params: params as object,
      ...(signal && { signal }),
    })
    return bodyOf(fetched) as ResponseOf<Path>
  }

  async function* pages<Path extends ListPath>(path: Path, ...[request]: RequestArguments<Path>) {
    let cursor: string | null | undefined
    do {
      const query = { ...(request as AnyRequest | undefined)?.query, ...(cursor && { cursor }) }
      const page = await get(path, ...([{ ...request, query }] as unknown as RequestArguments<Path>))
      yield page
      cursor = (page as { nextCursor: string | null }).nextCursor
    } while (cursor)
  }

  async function* rows<Path extends ListPath>(path: Path, ...request: RequestArguments<Path>) {
    for await (const page of pages(path, ...request)) yield* (page as { data: RowOf<Path>[] }).data
  }

  async function sendEvent(event: Event, { signal }: CallOptions = {}): Promise<SentEvent> {
    const eventId = event.event_id ?? crypto.randomUUID()
    const body = { ...event, event_id: eventId }
    const response = bodyOf(await client.POST('/events', { body, ...(signal && { signal }) }))
    return { ...response, eventId }
  }

  return { get, pages, rows, sendEvent }
}

/** @throws TributaryError */
function bodyOf<Body>({ data, error, response }: { data?: Body; error?: unknown; response: Response }): Body {
  if (response.status === 200 && data !== undefined) return data
  throw new TributaryError(response.status, typeof error === 'object' && error !== null ? error : {})
}
