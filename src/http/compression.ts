import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import Negotiator from 'negotiator'
import type { App } from './context.ts'

/** Smaller bodies fit into one packet: compressing them gains nothing. */
const bytesMin = 1_024

/**
 * Compresses the bodies above 1 KiB that are built whole, with the coding that the client prefers; their length stays known.
 * Streams and bodies that already have a coding are sent unchanged.
 */
export function compressResponses(app: App): void {
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : ''
    const isLarge = Buffer.byteLength(body) > bytesMin
    if (isLarge || reply.statusCode === 304) addVary(reply)
    if (!isLarge || reply.hasHeader('content-encoding')) return done(null, payload)
    const coding = chooseEncoding(request.headers['accept-encoding'], codings)
    if (!coding) return done(null, payload)
    reply.header('content-encoding', coding)
    encode(coding, Buffer.from(body)).then(
      (encoded) => done(null, encoded),
      (error: Error) => done(error),
    )
  })
}

function addVary(reply: FastifyReply): void {
  const names = `${reply.getHeader('vary') ?? ''}`
  if (!/accept-encoding/i.test(names)) reply.header('vary', names ? `${names}, accept-encoding` : 'accept-encoding')
}

/**
 * Selects the content coding with the highest weight in `Accept-Encoding`.
 * @param offered in order of preference among equal weights
 * @returns undefined for no compression: without the header, or when no coding has a weight above 0
 */
export function chooseEncoding<Coding extends string>(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  if (acceptEncoding === undefined) return undefined
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const chosen = negotiator.encoding(offered, { preferred: offered })
  return offered.find((coding) => coding === chosen)
}

/** The types of negotiator 1 lack the option. */
interface EncodingNegotiator {
  encoding(offered: readonly string[], options: { preferred: readonly string[] }): string | undefined
}

const brotli = promisify(brotliCompress)

/** In order of preference. At this quality brotli takes 50 ms per megabyte; the highest takes seconds. */
const encoders = {
  br: (body: Buffer) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip) as (body: Buffer) => Promise<Buffer>,
}

/** A content coding of complete bodies. */
export type Coding = keyof typeof encoders
export const codings = Object.keys(encoders) as Coding[]

/** Compresses a complete body, outside the event loop. */
export function encode(coding: Coding, body: Buffer): Promise<Buffer> {
  return encoders[coding](body)
}
