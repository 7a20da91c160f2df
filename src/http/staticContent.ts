import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding } from './acceptEncoding.ts'
import { etagOf, matchesEtag } from './etag.ts'

/** A public document, constant for the life of the process. */
export interface StaticContent {
  body: Buffer
  /** The value of `Content-Type`. */
  type: string
}

/** In order of preference. At this quality brotli takes 50 ms per megabyte; the highest takes seconds. */
const encoders = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
}
type Coding = keyof typeof encoders
const codings = Object.keys(encoders) as Coding[]

/**
 * Creates the handler of a path with constant content. The content is created and compressed at the first request, then
 * cached.
 */
export function serveContent(make: () => StaticContent | Promise<StaticContent>) {
  const content = once(async () => {
    const made = await make()
    return { ...made, etag: etagOf(made.body) }
  })
  const encoded = Object.fromEntries(
    codings.map((coding) => [coding, once(async () => encoders[coding]((await content()).body))]),
  ) as Record<Coding, () => Promise<Buffer>>

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { type, etag, body } = await content()
    reply.header('cache-control', 'public, no-cache').header('etag', etag).header('vary', 'accept-encoding')
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    const coding = chooseEncoding(request.headers['accept-encoding'], codings)
    reply.header('content-type', type)
    if (coding) reply.header('content-encoding', coding)
    return reply.send(coding ? await encoded[coding]() : body)
  }
}

/** Creates a value at the first call, once for concurrent calls; a failure is not cached. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
