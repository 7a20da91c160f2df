import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'
import { openRetries, type RetryOptions } from './retries.ts'

/** Where the API is and who asks. */
export interface TributaryOptions extends RetryOptions {
  /** As `https://api.example.com`; the client adds `/api/v1`. */
  baseUrl: string
  apiKey: string
}

type Problem = components['schemas']['Problem']
type Json<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : never

/** A path that can be read, as the documentation writes it: `/clicks`, `/campaigns/{id}`. */
export type ReadPath = { [Path in keyof paths]: paths[Path] extends { get: object } ? Path : never }[keyof paths]
/** The body that a path answers with. */
export type ResponseOf<Path extends ReadPath> = paths[Path] extends { get: { responses: { 200: infer Answer } } }
  ? Json<Answer>
  : never
/** A path that is read page by page. */
export type ListPath = {
  [Path in ReadPath]: ResponseOf<Path> extends { data: unknown[]; nextCursor: string | null } ? Path : never
}[ReadPath]
/** A row of such a path. */
export type RowOf<Path extends ListPath> = ResponseOf<Path> extends { data: (infer Row)[] } ? Row : never
/** An event of your back end. */
export type Event = Json<NonNullable<paths['/events']['post']['requestBody']>>
/** What became of an event, and the `event_id` that it was sent with. */
export type SentEvent = Json<paths['/events']['post']['responses'][200]> & { eventId: string }

type Asked<Path extends ReadPath> = paths[Path] extends { get: { parameters: infer Parameters } }
  ? Pick<Parameters, Extract<keyof Parameters, 'query' | 'path'>>
  : never
interface Call {
  /** Ends the call, its waiting and its retries. */
  signal?: AbortSignal
}
/** `query` and `path` of a call; the argument may be left out where nothing is required. */
type Question<Path extends ReadPath> =
  object extends Asked<Path> ? [asked?: Asked<Path> & Call] : [asked: Asked<Path> & Call]

/** The same, whatever the path. */
type AnyQuestion = Call & { query?: object; path?: object }

/** Reads and sends, typed by the API's own document. Every call retries what may be retried. */
export interface Tributary {
  /**
   * Reads one answer.
   * @throws TributaryError for any answer that is not 200; the error of `fetch` when there is no answer at all
   */
  get<Path extends ReadPath>(path: Path, ...question: Question<Path>): Promise<ResponseOf<Path>>
  /**
   * Reads a list to its end, a page at a time, as fast as it is consumed.
   * @throws as `get`
   */
  pages<Path extends ListPath>(path: Path, ...question: Question<Path>): AsyncGenerator<ResponseOf<Path>, void>
  /**
   * The same, row by row. `for await (const click of tributary.rows('/clicks', { query: { from: '2026-11-01' } }))`
   * @throws as `get`
   */
  rows<Path extends ListPath>(path: Path, ...question: Question<Path>): AsyncGenerator<RowOf<Path>, void>
  /**
   * Sends an event. Without an `event_id` of yours it gets one, so that sending it again after a lost answer stores it
   * once; give your own where your process may end before it knows the answer.
   * @throws as `get`
   */
  sendEvent(event: Event, call?: Call): Promise<SentEvent>
}

/** An answer that is not 200: the code to branch on, and what else the API said. */
export class TributaryError extends Error {
  override readonly name = 'TributaryError'
  readonly status: number
  /** As in the table of errors; `unreadable_answer` when it was none of the API's. */
  readonly code: string
  /** The parameter or field at fault. */
  readonly param: string | undefined
  /** Quote it to support. */
  readonly requestId: string | undefined

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.message ?? `The answer has status ${status} and no explanation.`)
    this.status = status
    this.code = problem.error ?? 'unreadable_answer'
    this.param = problem.param
    this.requestId = problem.requestId
  }
}

/** What openapi-fetch hands back, whatever the call was. */
interface Fetched {
  data?: unknown
  error?: unknown
  response: Response
}

/** Opens a client of one key; it holds nothing that needs closing. */
export function createTributary({ baseUrl, apiKey, ...retries }: TributaryOptions): Tributary {
  const client = createClient<paths>({
    baseUrl: `${baseUrl.replace(/\/+$/, '')}/api/v1`,
    headers: { Authorization: `ApiKey ${apiKey}` },
    fetch: openRetries(retries),
  })

  async function get<Path extends ReadPath>(path: Path, ...[asked]: Question<Path>): Promise<ResponseOf<Path>> {
    const { signal, ...params }: AnyQuestion = asked ?? {}
    // `Question` has checked which parameters this path takes; the library can't follow a path that is a variable.
    const fetched: Fetched = await client.GET(path as '/clicks', {
      params: params as object,
      ...(signal && { signal }),
    })
    return bodyOf(fetched) as ResponseOf<Path>
  }

  async function* pages<Path extends ListPath>(path: Path, ...[asked]: Question<Path>) {
    let cursor: string | null | undefined
    do {
      const query = { ...(asked as AnyQuestion | undefined)?.query, ...(cursor && { cursor }) }
      const page = await get(path, ...([{ ...asked, query }] as unknown as Question<Path>))
      yield page
      cursor = (page as { nextCursor: string | null }).nextCursor
    } while (cursor)
  }

  async function* rows<Path extends ListPath>(path: Path, ...question: Question<Path>) {
    for await (const page of pages(path, ...question)) yield* (page as { data: RowOf<Path>[] }).data
  }

  async function sendEvent(event: Event, { signal }: Call = {}): Promise<SentEvent> {
    const eventId = event.event_id ?? crypto.randomUUID()
    const body = { ...event, event_id: eventId }
    const answer = bodyOf(await client.POST('/events', { body, ...(signal && { signal }) }))
    return { ...answer, eventId }
  }

  return { get, pages, rows, sendEvent }
}

/** @throws TributaryError */
function bodyOf<Body>({ data, error, response }: { data?: Body; error?: unknown; response: Response }): Body {
  if (response.status === 200 && data !== undefined) return data
  throw new TributaryError(response.status, typeof error === 'object' && error !== null ? error : {})
}
