import { isUtf8 } from 'node:buffer'
import { createHash, timingSafeEqual } from 'node:crypto'
import { pipeline, Transform } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { baseServer, type ServerParts } from '../http/baseServer.ts'
import type { App } from '../http/context.ts'
import { arrivalMaxMs } from '../http/httpServer.ts'
import { handleUnknownPath } from '../http/notFound.ts'
import { parseQuery, queryValidator, type RawQuery } from '../http/validation.ts'
import { type Line, splitBlock } from '../import/parsers/lines.ts'
import { RowError } from '../import/readers/rowError.ts'
import { instant } from '../import/readers/times.ts'
import { invalidParameter, Problem } from '../problem.ts'
import { withDeadline } from '../stores/timing/deadline.ts'
import { minuteMs } from '../stores/timing/units.ts'
import type { Feed } from './feed.ts'
import { rowBytesMax } from './readRows.ts'
import type { RowOrigin } from './rows.ts'

const bodyMaxBytes = 16 << 20
/** Replaces a body whose rows were read, so that a request that waits for results does not keep it in memory. */
const noBody = Buffer.alloc(0)
const rowsMax = 10_000
/** A body that is being received counts as at most these bytes of rows that wait: a slow sender must not delay others. */
const expectedMaxBytes = 128 << 10
/** A request is refused if the rows before it are expected to take longer, or to be stored later than this after it arrived, milliseconds. */
const waitMaxMs = { rows: 20_000, held: 35_000 }
/**
 * Each request is held until its refusal, or until there is room. A refusal takes as much CPU time as storing about ten rows, so one
 * follows the other after the time of 100 rows. A held request takes 64 KiB of memory, so more than these are refused at once.
 */
const refusals = { rows: 100, heldMs: 50_000, heldMax: 1_000 }
/** Random, so that senders do not repeat their requests at the same time. */
const retryAfterS = () => 5 + Math.floor(26 * Math.random())

export interface FeedServerParts extends Pick<ServerParts, 'metrics' | 'arrivalMs'> {
  token: string
  /** Undefined while this process takes no rows. */
  feed: () => Feed | undefined
  /** @param updatedAtMs of `?updated_at=` */
  origin: (updatedAtMs: number | undefined) => RowOrigin
  log: FastifyBaseLogger
  /** A request gets its response within this time, milliseconds. */
  resultMs?: number
}

/** Builds the server of `POST /rows`; the caller makes it listen. It is for senders of the operator, and no part of the API. */
export function buildFeedServer(parts: FeedServerParts): App {
  const { token, feed, origin, log, metrics, arrivalMs = 2 * arrivalMaxMs, resultMs = 55_000 } = parts
  const app = baseServer({ log, metrics, arrivalMs, routerOptions: { querystringParser: parseQuery } })
  handleUnknownPath(app, 'send rows to POST /rows')
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', 'Bearer')
    // The rest of its body is not read.
    if (reply.statusCode >= 400 && !request.body) reply.header('connection', 'close')
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  const isToken = tokenCheck(token)
  /** Bytes of bodies that are being received, or whose rows are being read. */
  let receiving = 0
  const receivedBytes = new Map<FastifyRequest, number>()
  const setReceived = (request: FastifyRequest, bytes: number) => {
    receiving += bytes - (receivedBytes.get(request) ?? 0)
    if (bytes > 0) receivedBytes.set(request, bytes)
    else receivedBytes.delete(request)
  }
  const requireFeed = () => {
    const active = feed()
    if (!active) throw unavailable('This feed takes no rows at the moment.')
    if (active.queue.isFull(receiving)) throw tooManyRows()
    return active
  }

  let heldRequests = 0
  let nextRefusalMs = 0
  let nextLineMs = 0
  /** One refusal a minute is logged. @throws Problem if the rows of the request would wait for too long */
  const admit = async ({ log }: FastifyRequest) => {
    const nowMs = performance.now()
    const hasRoom = () => {
      const expectedBytes = Math.min(receiving, receivedBytes.size * expectedMaxBytes)
      const waitMs = requireFeed().queue.expectedWaitMs(expectedBytes)
      return waitMs < Math.min(waitMaxMs.rows, waitMaxMs.held + nowMs - performance.now())
    }
    if (hasRoom()) return
    const intervalMs = refusals.rows * requireFeed().queue.speed.rowMs
    nextRefusalMs = Math.min(Math.max(nowMs, nextRefusalMs + intervalMs), nowMs + refusals.heldMs)
    if (heldRequests < refusals.heldMax) {
      heldRequests += 1
      await pause(nextRefusalMs - nowMs, undefined, { ref: false })
      heldRequests -= 1
      if (hasRoom()) return
    }
    if (nowMs < nextLineMs) log.level = 'silent'
    else nextLineMs = nowMs + minuteMs
    throw tooManyRows()
  }

  /** TRAP: a handler keeps its variables, here all rows, while it waits. */
  const submitRows = async (request: FastifyRequest) => {
    try {
      const originOfRows = origin(readUpdatedAt(request))
      const content = await contentOf(request)
      request.body = noBody
      setReceived(request, content.length)
      const read = await requireFeed().read(linesOf(content), originOfRows)
      // Requests that were read at the same time may have filled the queue.
      const active = requireFeed()
      return { active, added: active.queue.add(read, Number.POSITIVE_INFINITY) }
    } finally {
      setReceived(request, 0)
    }
  }

  app.post('/rows', {
    bodyLimit: bodyMaxBytes,
    async onRequest(request, reply) {
      if (!isToken(request.headers.authorization))
        throw new Problem('invalid_api_key', 'Send the token of FEED_TOKEN: Authorization: Bearer <token>.')
      assertReadable(request)
      readUpdatedAt(request)
      const bytes = Number(request.headers['content-length'] ?? 0)
      if (bytes > bodyMaxBytes) throw tooLarge()
      await admit(request)
      // Its sender may have disconnected meanwhile.
      setReceived(request, reply.raw.closed ? 0 : bytes)
      reply.raw.once('close', () => setReceived(request, 0))
      requireFeed()
    },
    /** A body without a length counts as what has arrived. */
    preParsing(request, _reply, payload, done) {
      if (request.headers['content-length'] !== undefined) return done(null, payload)
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, next) {
          setReceived(request, (receivedBytes.get(request) ?? 0) + chunk.length)
          next(feed()?.queue.isFull(receiving) ? tooManyRows() : null, chunk)
        },
      })
      // Errors reach the reader of `counted`.
      done(
        null,
        pipeline(payload, counted, () => {}),
      )
    },
    async handler(request, reply) {
      const { active, added } = await submitRows(request)
      const late = () => new Error('Some rows have no result yet.')
      await withDeadline(Math.max(0, resultMs - reply.elapsedTime), late, () => added.done).catch(() => {})
      active.queue.cancel(added)
      await active.finish('http', added)
      if (added.results.some((row) => row?.result === 'retry')) reply.code(503).header('retry-after', retryAfterS())
      reply.type('application/x-ndjson; charset=utf-8')
      return added.results.map((result) => `${JSON.stringify(result)}\n`).join('')
    },
  })
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', () => {
    if (requireFeed().queue.isUnavailable)
      throw new Problem('unavailable', 'A database is unavailable; rows wait.', { retryAfterS: 5 })
    return { status: 'ready' }
  })
  return app
}

const unavailable = (message: string) => new Problem('unavailable', message, { retryAfterS: retryAfterS() })
const tooManyRows = () => unavailable('Too many rows wait.')

const tooLarge = () => new Problem('payload_too_large', `The body is larger than ${bodyMaxBytes / 1024} KiB.`)

function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  // Digests have equal lengths, so the comparison takes the same time for each token.
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(`Bearer ${token}`)
  return (authorization) => timingSafeEqual(digest((authorization ?? '').replace(/^bearer +/i, 'Bearer ')), expected)
}

/** @throws Problem before the body is read */
function assertReadable({ headers }: FastifyRequest): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (!/^application\/(x-)?ndjson$/i.test(type.trim()))
    throw new Problem('unsupported_media_type', 'Send rows as Content-Type: application/x-ndjson.')
  if (!/^(identity|gzip)?$/i.test(headers['content-encoding'] ?? ''))
    throw new Problem('unsupported_media_type', 'The only supported Content-Encoding is gzip.')
}

const validateQuery = queryValidator(Type.Object({ updated_at: Type.Optional(Type.String()) }))

/** @throws Problem */
function readUpdatedAt({ query }: FastifyRequest): number | undefined {
  const validated = validateQuery(query as RawQuery)
  if ('error' in validated) throw validated.error
  const { updated_at: text } = validated.value as { updated_at?: string }
  if (text === undefined) return undefined
  try {
    // A plus sign that is not percent-encoded is a space.
    return instant(text.replace(/(?<=:\d\d(\.\d{1,9})?) (?=\d\d(:?\d\d)?$)/, '+'), { namesOptions: false })
  } catch (error) {
    throw error instanceof RowError ? invalidParameter('updated_at', error.message) : error
  }
}

const unzip = promisify(gunzip)

async function contentOf({ headers, body }: FastifyRequest): Promise<Buffer> {
  const bytes = (body as Buffer | undefined) ?? noBody
  const isZipped = /gzip/i.test(headers['content-encoding'] ?? '')
  const content = isZipped ? await unzip(bytes, { maxOutputLength: bodyMaxBytes }).catch(throwUnzipError) : bytes
  if (!isUtf8(content)) throw new Problem('invalid_json', 'The body is not UTF-8.')
  return content
}

function throwUnzipError({ code }: NodeJS.ErrnoException): never {
  throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : new Problem('invalid_json', 'The body is not gzip.')
}

function linesOf(content: Buffer): Line[] {
  // First, since the lines of 16 MiB of line feeds would take 2 GB.
  let count = 1
  for (let at = content.indexOf('\n'); at !== -1 && at < content.length - 1; at = content.indexOf('\n', at + 1)) {
    count += 1
    if (count > rowsMax) throw new Problem('payload_too_large', `The body has more than ${rowsMax} lines.`)
  }
  return splitBlock(content, rowBytesMax).filter(({ error, text }) => error !== undefined || /\S/.test(text))
}
