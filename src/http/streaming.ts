import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mediaTypes, type RowFormat } from '../../schema/rowFormat.ts'
import { Problem } from '../problem.ts'
import { whenAborted } from '../stores/whenAborted.ts'
import { chooseEncoding } from './acceptEncoding.ts'
import { negotiateFormat } from './contentNegotiation.ts'

/** Answers of any length, sent while they are read. */
export interface Streaming {
  /**
   * Sends bytes as they come, gzipped where the caller takes that. What goes wrong before the first of them is a problem
   * like any other; later the connection is reset, so that no half answer looks whole. A caller who leaves ends the reading.
   * @param read asks a store; its signal aborts when nobody waits any more
   * @throws Problem `rate_limited` or `unavailable` when too many are under way
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    format: RowFormat,
    read: (signal: AbortSignal) => AsyncIterable<Buffer>,
  ): Promise<void>
  /** Ends all that are under way. */
  close(): void
}

/** An export holds a connection to ClickHouse for as long as its client reads. */
const perAccountMax = 2
const totalMax = 12

/** Exports in all from which on an account may have one alone: six accounts with two each would leave nothing for others. */
const oneEachFrom = totalMax / 2

/** 3 costs half of the default level's time for files a tenth larger. */
const gzipLevel = 3

const contentTypes = {
  ndjson: mediaTypes.ndjson,
  csv: `${mediaTypes.csv}; charset=utf-8; header=present`,
  parquet: mediaTypes.parquet,
} as const

/**
 * Decides whether a list is to leave whole, and in which form.
 * @param formats that the list has
 * @param format that a parameter names
 * @returns undefined: a page, in JSON
 * @throws Problem `invalid_limit`: an export has no pages
 */
export function streamFormat<Format extends RowFormat>(
  { headers, url }: FastifyRequest,
  formats: readonly Format[],
  format: Format | 'json' | undefined,
): Format | undefined {
  const wanted = negotiateFormat(formats, format, headers.accept)
  // The validated parameters can't tell whether it was given.
  if (wanted && /[?&]limit=/.test(url)) {
    throw new Problem('invalid_limit', `limit is for pages of JSON; ${wanted} has all rows in one answer.`, {
      param: 'limit',
    })
  }
  return wanted
}

/** Opens what exports are sent by; one for all rooms. */
export function openStreaming(): Streaming {
  const closing = new AbortController()
  const countByAccount = new Map<string, number>()
  let total = 0

  function begin(accountId: string): () => void {
    const count = countByAccount.get(accountId) ?? 0
    const max = total < oneEachFrom ? perAccountMax : 1
    if (count >= max) {
      const limit = `Limit of ${perAccountMax} concurrent exports per account reached, or of 1 while the server is busy`
      throw new Problem('rate_limited', `${limit}; retry when one has finished.`, { retryAfterS: 5 })
    }
    if (total >= totalMax) {
      throw new Problem('unavailable', 'The server runs as many exports as it can; retry later.', { retryAfterS: 5 })
    }
    countByAccount.set(accountId, count + 1)
    total += 1
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      const left = (countByAccount.get(accountId) ?? 1) - 1
      if (left === 0) countByAccount.delete(accountId)
      else countByAccount.set(accountId, left)
      total -= 1
    }
  }

  return {
    async send(request, reply, format, read) {
      reply.header('content-type', contentTypes[format]).header('vary', 'accept, accept-encoding')
      if (request.method === 'HEAD') return await reply.send()
      const end = begin(request.caller.accountId)
      const signal = AbortSignal.any([request.signal, closing.signal])
      const chunks = read(signal)[Symbol.asyncIterator]()
      try {
        // Until the first bytes an error still finds an answer that can be refused.
        const first = await chunks.next()
        const rows = Readable.from(chain(first, chunks), { objectMode: false })
        // Nobody may be reading at that moment, who would be told of the end.
        const forget = whenAborted(signal, () => rows.destroy(signal.reason))
        rows.once('close', () => {
          forget()
          end()
        })
        const isGzipped =
          format !== 'parquet' && chooseEncoding(request.headers['accept-encoding'], ['gzip']) === 'gzip'
        if (isGzipped) reply.header('content-encoding', 'gzip')
        await reply.send(isGzipped ? pipeline(rows, createGzip({ level: gzipLevel }), () => {}) : rows)
      } catch (error) {
        end()
        throw error
      }
    },
    close() {
      closing.abort(new Problem('unavailable', 'The server stops; try again.', { retryAfterS: 1 }))
    },
  }
}

async function* chain(first: IteratorResult<Buffer>, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
