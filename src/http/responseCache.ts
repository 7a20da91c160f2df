import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { tableFormats } from '../../schema/rowFormat.ts'
import { type CsvQuery, checkCsvParameters } from '../rows/csvEscape.ts'
import { csvFinisher } from '../rows/csvSerializer.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import { attachmentHeader, type FileContent } from './attachment.ts'
import { negotiateFormat } from './contentNegotiation.ts'
import { etagOf, matchesEtag } from './etag.ts'
import { setRetainedFrom } from './retainedHeader.ts'
import { writeBody } from './writeBody.ts'

export type ResponseCache = ReturnType<typeof openResponseCache>

export interface DatedResponse {
  asOf: string
  dataThrough?: object
}

export interface CsvResponse {
  /** Parts of the file. */
  texts: Iterable<string>
  /** What the body of a JSON response says beside its rows. */
  headers: Readonly<Record<string, string>>
}

interface TablePlan extends Omit<FileContent, 'resource'> {
  retained: { retainedFrom: string | null }
}

/** A small table, as JSON or CSV. */
interface TableResponse<Plan extends TablePlan, Response extends DatedResponse> {
  /** In the name of a CSV file. */
  resource: string
  query: CsvQuery & { format?: 'csv' | 'json' }
  makePlan(): Plan
  run(plan: Plan, signal: AbortSignal): Promise<Response>
  toCsv(response: Response, plan: Plan): CsvResponse
}

export interface ResponseCacheOptions {
  /** Maximum age of a response, milliseconds from the start of its query (2,000); 0 disables caching and sharing. */
  ttlMs?: number
  /** Size limit of the cache, bytes. */
  bytesMax?: number
  /** Monotonic time, milliseconds; by default since the start of the process. */
  monotonicMs?: () => number
  /** Gets the source of each response: the cache, the running query of another request, or its own query. */
  onResponse?: ((source: 'cache' | 'shared' | 'query') => void) | undefined
}

interface Prepared {
  body: Buffer
  headers: Readonly<Record<string, string>>
  /** Weak, since it excludes `asOf` and `dataThrough`: equal data at a later time has the same ETag. */
  etag: string
}

interface SharedRun {
  startedMs: number
  response: Promise<Prepared>
  waiting: number
  abort(): void
}

/** Memory of a cache entry beside its body: key, headers, bookkeeping. */
const overheadBytes = 1_000

/**
 * Opens the cache of the responses of stats, reports, funnels and usage, and sends them: concurrent identical requests share
 * one query; clients can revalidate by ETag.
 */
export function openResponseCache(options: ResponseCacheOptions = {}) {
  const { ttlMs = 2_000, bytesMax = 32 * 1_048_576, monotonicMs = () => performance.now() } = options
  const { onResponse = () => {} } = options
  const cached = new LRUCache<string, Prepared>({
    maxSize: bytesMax,
    sizeCalculation: ({ body }) => body.length + overheadBytes,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now: monotonicMs },
  })
  const runs = new Map<string, SharedRun>()

  function start(key: string, run: (signal: AbortSignal) => Promise<Prepared>): SharedRun {
    const startedMs = monotonicMs()
    const disconnected = new AbortController()
    const end = () => {
      if (runs.get(key) === started) runs.delete(key)
    }
    const abort = () => {
      end()
      disconnected.abort()
    }
    const started: SharedRun = { startedMs, response: run(disconnected.signal), waiting: 0, abort }
    started.response.then((prepared) => {
      end()
      if (monotonicMs() - startedMs < ttlMs) cached.set(key, prepared, { start: startedMs })
    }, end)
    runs.set(key, started)
    return started
  }

  /** Joins the query in flight for a key, unless it started more than `ttlMs` ago. */
  async function joinOrStart(key: string, disconnected: AbortSignal, run: (signal: AbortSignal) => Promise<Prepared>) {
    const inFlight = runs.get(key)
    const isShared = inFlight !== undefined && monotonicMs() - inFlight.startedMs < ttlMs
    const joined = isShared ? inFlight : start(key, run)
    onResponse(isShared ? 'shared' : 'query')
    joined.waiting += 1
    whenAborted(disconnected, () => {
      joined.waiting -= 1
      if (joined.waiting === 0) joined.abort()
    })
    return await joined.response
  }

  /**
   * Makes `send` and `sendCsv`. They send the response to a GET, from the cache when it is at most `ttlMs` old. The cache key is the account, the view, the
   * route, the validated parameters, whether the key reads events, which a report may count, and the values of entities that it names; errors
   * are passed on and not cached. TRAP: keys of an account share responses, so other scopes of the key are checked before.
   * Their parameter `run` queries the databases, once for concurrent identical requests; its signal aborts when all their clients have
   * disconnected. Most routes plan in `run`, so a cached response is not planned again; a table as CSV is planned before.
   */
  const sendAs =
    <Response>(format: string, prepare: (response: Response) => Promise<Prepared>) =>
    async (request: FastifyRequest, reply: FastifyReply, run: (signal: AbortSignal) => Promise<Response>) => {
      const { caller, routeOptions, query } = request
      // The account and the view are first, so that no others share a response. Parameters are in the order of their schema.
      const versions = Object.values(caller.entityValues ?? {}).map(({ version }) => version)
      const sees = `${caller.view?.id ?? ''} ${caller.scopes.has('read:events')} ${versions}`
      const key = `${caller.accountId} ${sees} ${routeOptions.url} ${JSON.stringify(query)} as ${format}`
      const found = cached.get(key)
      if (found) onResponse('cache')
      const prepareRun = async (signal: AbortSignal) => prepare(await run(signal))
      const { body, headers, etag } = found ?? (await joinOrStart(key, request.signal, prepareRun))
      reply.header('etag', etag)
      if (matchesEtag(request.headers['if-none-match'], etag)) await reply.code(304).send()
      else await reply.headers(headers).send(body)
    }

  const send = sendAs('JSON', prepareJson)
  const sendCsv = sendAs('CSV', prepareCsv)

  /**
   * Sends a table in the format of the request, as `send`.
   * @throws Problem `invalid_csv_escape`, `invalid_csv_bom`, `invalid_csv_decimal`, `invalid_totals`, or as `makePlan` and `run`
   */
  function sendTable<Plan extends TablePlan, Response extends DatedResponse>(
    request: FastifyRequest,
    reply: FastifyReply,
    { resource, query, makePlan, run, toCsv }: TableResponse<Plan, Response>,
  ): Promise<void> {
    const format = negotiateFormat(tableFormats, query.format, request.headers.accept)
    checkCsvParameters(query, format)
    if (!format) return send(request, reply, (signal) => run(makePlan(), signal))
    const plan = makePlan()
    setRetainedFrom(reply, plan.retained)
    return sendCsv(request, reply, async (signal) => {
      const csv = toCsv(await run(plan, signal), plan)
      const headers = { ...csv.headers, ...attachmentHeader({ resource, ...plan }, format) }
      return { ...csv, headers, query }
    })
  }

  return { send, sendTable }
}

async function prepareJson({ asOf, dataThrough, ...rest }: DatedResponse): Promise<Prepared> {
  const hash = createHash('sha256')
  const dated = `,${JSON.stringify({ dataThrough, asOf }).slice(1)}`
  return {
    body: await writeBody(jsonTexts(rest), hash, { end: dated }),
    headers: { 'content-type': 'application/json; charset=utf-8' },
    etag: etagOf(hash),
  }
}

/** The JSON of an object without its last brace; each item of a list is a text. */
function* jsonTexts(object: object): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    yield `${before}"${name}":`
    before = ','
    if (!Array.isArray(value)) yield JSON.stringify(value)
    else {
      for (const [index, item] of value.entries()) yield `${index === 0 ? '[' : ','}${JSON.stringify(item)}`
      yield value.length === 0 ? '[]' : ']'
    }
  }
}

/** The ETag includes the headers: they can change while the rows do not. */
async function prepareCsv({ texts, headers, query }: CsvResponse & { query: CsvQuery }): Promise<Prepared> {
  const hash = createHash('sha256').update(JSON.stringify(headers))
  return {
    body: await writeBody(texts, hash, { finish: csvFinisher(query) }),
    headers: { 'content-type': 'text/csv; charset=utf-8; header=present', ...headers },
    etag: etagOf(hash),
  }
}
