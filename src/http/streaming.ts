import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { listFormats, mediaTypes, type RowFormat } from '../../schema/rowFormat.ts'
import { invalidParameter, Problem } from '../problem.ts'
import { type CsvQuery, checkCsvParameters } from '../rows/csvEscape.ts'
import { csvFinisher } from '../rows/csvSerializer.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import { attachmentHeader, type FileContent } from './attachment.ts'
import { ConcurrencyLimiter } from './concurrencyLimiter.ts'
import { chooseEncoding } from './contentCoding.ts'
import { negotiateFormat } from './contentNegotiation.ts'

/** Level 3 takes half the time of the default level, for files a tenth larger. */
const gzipLevel = 3

const contentTypes = { ...mediaTypes, csv: `${mediaTypes.csv}; charset=utf-8; header=present` }

/**
 * Selects the export format of a list request.
 * @returns undefined for a page in JSON
 * @throws Problem `invalid_limit` when an export has a `limit`, or as `checkCsvParameters`
 */
export function streamFormat({ headers, url }: FastifyRequest, query: CsvQuery & { format?: RowFormat | 'json' }) {
  const selected = negotiateFormat(listFormats, query.format, headers.accept)
  // The validated parameters have a default, so they do not show whether it was sent.
  if (selected && new URLSearchParams(url.slice(url.indexOf('?') + 1)).has('limit')) {
    throw invalidParameter('limit', `applies to JSON pages only; ${selected} returns all rows in one response.`)
  }
  checkCsvParameters(query, selected)
  return selected
}

export type Streaming = ReturnType<typeof openStreaming>

/** Time of running exports at shutdown; the server then has another second to close its connections. */
const exportGraceMs = 24_000

const needsHttp11 =
  'An export needs HTTP/1.1, without which a part of it looks complete. A proxy may need a setting, as nginx: proxy_http_version 1.1.'

const shuttingDown = () => new Problem('unavailable', 'The server is shutting down; retry.', { retryAfterS: 1 })

/**
 * Opens the streaming of exports; one instance for all routes, since limits are shared.
 * @param closingMs time of running exports at shutdown
 */
export function openStreaming(closingMs = exportGraceMs) {
  const closing = new AbortController()
  const exports = new ConcurrencyLimiter({
    perAccountMax: (total) => (total <= onePerAccountFrom ? perAccountMax : 1),
    totalMax,
    waitMs: 0,
    refuse: refuseExport,
  })
  let isClosing = false

  return {
    /**
     * Streams all rows of a list as a file, gzipped if the client accepts it. An error before the first byte is sent as an error
     * response; after it, the connection is reset, so that a partial response cannot look complete. A disconnect ends the query.
     * @param read runs the query; its signal aborts when the client has disconnected or the server stops
     * @throws Problem `rate_limited` or `unavailable` at the limit of concurrent exports, `invalid_request` over HTTP/1.0
     */
    async send(
      request: FastifyRequest,
      reply: FastifyReply,
      { format, csv, ...content }: FileContent & { format: RowFormat; csv: CsvQuery },
      read: (signal: AbortSignal) => AsyncIterable<Buffer>,
    ): Promise<void> {
      reply.headers({ ...attachmentHeader(content, format), 'content-type': contentTypes[format] })
      reply.header('vary', 'accept, accept-encoding')
      // TRAP: without a payload the framework sends `Content-Length: 0`, which readers of files take for an empty file.
      if (request.method === 'HEAD') return void (await reply.send(Readable.from([])))
      if (isOnHttp10(request.raw)) throw new Problem('invalid_request', needsHttp11)
      if (isClosing) throw shuttingDown()
      const release = await exports.acquire(request.caller.slotsOf)
      const signal = AbortSignal.any([request.signal, closing.signal])
      const chunks = finished(read(signal), csv)
      try {
        const first = await chunks.next()
        const rows = Readable.from(chain(first, chunks, release), { objectMode: false })
        // The stream may not be read at that moment, so an error of `read` alone would not end it.
        const removeListener = whenAborted(signal, () => rows.destroy(signal.reason))
        rows.once('close', () => {
          removeListener()
          release()
        })
        const coding = format === 'parquet' ? undefined : chooseEncoding(request.headers['accept-encoding'], ['gzip'])
        if (coding) reply.header('content-encoding', coding)
        await reply.send(coding ? pipeline(rows, createGzip({ level: gzipLevel }), () => {}) : rows)
      } catch (error) {
        release()
        throw error
      }
    },
    /** Refuses further exports, and ends the running ones after `closingMs`. */
    close() {
      isClosing = true
      setTimeout(() => closing.abort(shuttingDown()), closingMs).unref()
    },
  }
}

/**
 * Over HTTP/1.0 the end of the connection is the end of the response.
 * @returns whether the client, or a proxy that says so in `Via` (RFC 9110), sent the request over HTTP/1.0
 */
function isOnHttp10({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor === 0 || /(?:^|,)\s*(?:HTTP\/)?1\.0\s/i.test(headers.via ?? '')
}

/**
 * @param release called when all chunks are read, before the stream ends: a client that has received the end of an export may
 *   start another one at once
 */
async function* chain(first: IteratorResult<Buffer>, rest: AsyncIterator<Buffer>, release: () => void) {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value
    release()
  } finally {
    await rest.return?.()
  }
}

async function* finished(parts: AsyncIterable<Buffer>, csv: CsvQuery) {
  const finish = csvFinisher(csv)
  for await (const part of parts) yield finish(part)
}

/** Limits of the concurrent exports of this process: each uses a ClickHouse connection for as long as its client reads. */
const perAccountMax = 2
const totalMax = 12

/** With more exports, the limit per account is 1: six accounts with two each would leave none for others. */
const onePerAccountFrom = totalMax / 2

/** @returns Problem `rate_limited` at the limit of the account, `unavailable` at the limit of the server */
function refuseExport(isOwnLimit: boolean): Problem {
  if (!isOwnLimit) {
    const message = 'Limit of concurrent exports on this server reached; retry later.'
    return new Problem('unavailable', message, { retryAfterS: 5 })
  }
  const limit = `Limit of ${perAccountMax} concurrent exports per account reached, or of 1 while the server is busy`
  return new Problem('rate_limited', `${limit}; retry when one has finished.`, { retryAfterS: 5 })
}
