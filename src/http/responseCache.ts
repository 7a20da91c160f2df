import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { whenAborted } from '../stores/whenAborted.ts'
import { etagOf, matchesEtag } from './etag.ts'

/** Answers of stats and reports: run once for all who ask the same at the same time, kept for a moment, revalidated. */
export interface ResponseCache {
  /**
   * Sends the answer to a GET, from the last run of the same question where that is no older than two seconds.
   * The question is the account, the route and the validated parameters; errors are passed on and never kept.
   * @param run asks the stores, at most once for equal questions at once; its signal aborts when every caller has hung up
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (signal: AbortSignal) => Promise<DatedResponse>,
  ): Promise<void>
  /** The same of an answer that is a text of CSV. */
  sendCsv(request: FastifyRequest, reply: FastifyReply, run: (signal: AbortSignal) => Promise<string>): Promise<void>
}

/** An answer and the moment that its numbers are of. */
export interface DatedResponse {
  asOf: string
}

export interface ResponseCacheOptions {
  /** How old an answer may be, in milliseconds from the moment its run began; 0 shares and keeps nothing. */
  ttlMs?: number
  /** What all kept answers may take together. */
  bytesMax?: number
  /** Told where each answer came from. */
  onResponse?: ((from: ResponseSource) => void) | undefined
}

/** From memory, from a run that another caller had begun, or from a run of its own. */
export type ResponseSource = 'kept' | 'shared' | 'run'

/** An answer as it leaves, so that sending it again costs nothing. */
interface Prepared {
  body: Buffer
  type: string
  /** Weak, since `asOf` is no part of it: the same numbers a minute later are the same answer. */
  etag: string
}

/** A question under way. */
interface SharedRun {
  startedMs: number
  response: Promise<Prepared>
  /** One caller fewer waits for it; the last one ends it. */
  leave(): void
  join(): void
}

/** What a cached answer takes beside its text: key, headers, the cache's own notes. */
const overheadBytes = 1_000

export function openResponseCache({
  ttlMs: lifeMs = 2_000,
  bytesMax = 32 * 1_048_576,
  onResponse: onAnswer = () => {},
}: ResponseCacheOptions = {}): ResponseCache {
  const kept = new LRUCache<string, Prepared>({
    maxSize: bytesMax,
    sizeCalculation: ({ body }) => body.length + overheadBytes,
    ttl: lifeMs,
    ttlResolution: 0,
  })
  const runs = new Map<string, SharedRun>()

  function start(question: string, run: (signal: AbortSignal) => Promise<Prepared>): SharedRun {
    const startedMs = performance.now()
    const hungUp = new AbortController()
    const answer = run(hungUp.signal)
    let waiting = 0
    let isOver = false
    const end = () => {
      isOver = true
      if (runs.get(question) === started) runs.delete(question)
    }
    const started: SharedRun = {
      startedMs,
      response: answer,
      join() {
        waiting += 1
      },
      leave() {
        waiting -= 1
        if (waiting > 0 || isOver) return
        end()
        hungUp.abort()
      },
    }
    answer.then((prepared) => {
      end()
      if (performance.now() - startedMs < lifeMs) kept.set(question, prepared, { start: startedMs })
    }, end)
    runs.set(question, started)
    return started
  }

  /** Waits for the run of a question, but not for one that began too long ago to be news. */
  async function ask(
    question: string,
    hungUp: AbortSignal,
    run: (signal: AbortSignal) => Promise<Prepared>,
  ): Promise<Prepared> {
    const present = runs.get(question)
    const isShared = present !== undefined && performance.now() - present.startedMs < lifeMs
    const joined = isShared ? present : start(question, run)
    onAnswer(isShared ? 'shared' : 'run')
    joined.join()
    whenAborted(hungUp, joined.leave)
    return await joined.response
  }

  async function send(
    question: string,
    request: FastifyRequest,
    reply: FastifyReply,
    run: (signal: AbortSignal) => Promise<Prepared>,
  ): Promise<void> {
    const found = kept.get(question)
    if (found) onAnswer('kept')
    const { body, type, etag } = found ?? (await ask(question, request.signal, run))
    reply.header('etag', etag)
    if (matchesEtag(request.headers['if-none-match'], etag)) await reply.code(304).send()
    else await reply.header('content-type', type).send(body)
  }

  return {
    send: (request, reply, run) =>
      send(requestKey(request), request, reply, async (signal) => prepareJson(await run(signal))),
    sendCsv: (request, reply, run) =>
      send(`${requestKey(request)} as CSV`, request, reply, async (signal) => prepareCsv(await run(signal))),
  }
}

/** The account stands first, so that no answer is ever another's. Parameters come in the order of their schema. */
function requestKey({ caller, routeOptions, query }: FastifyRequest): string {
  return `${caller.accountId} ${routeOptions.url} ${JSON.stringify(query)}`
}

function prepareJson({ asOf, ...rest }: DatedResponse): Prepared {
  const text = JSON.stringify(rest)
  const body = Buffer.from(`${text.slice(0, -1)},"asOf":${JSON.stringify(asOf)}}`)
  return { body, type: 'application/json; charset=utf-8', etag: etagOf(text) }
}

function prepareCsv(text: string): Prepared {
  return { body: Buffer.from(text), type: 'text/csv; charset=utf-8; header=present', etag: etagOf(text) }
}
