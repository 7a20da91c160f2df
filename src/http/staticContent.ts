import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding } from './acceptEncoding.ts'
import { etagOf, matchesEtag } from './etag.ts'

/** What a public address shows, the same for everybody as long as the process lives. */
export interface StaticContent {
  body: Buffer
  /** The value of `Content-Type`. */
  type: string
}

/** Best first. At this quality brotli takes 50 ms for a megabyte; its best one takes seconds. */
const encoders = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
}
type Coding = keyof typeof encoders
const codings = Object.keys(encoders) as Coding[]

/**
 * Makes the handler of an address whose content never changes. The content is made, and compressed, when it is first asked
 * for, and kept: a request costs no work, no file and no memory of its own.
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

/** Makes a value when it is first asked for, once for all who ask; a failure is not kept. */
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
