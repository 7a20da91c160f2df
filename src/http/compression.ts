import { chooseEncoding, codings, encoders } from './contentCoding.ts'
import type { App } from './context.ts'

/** Smaller bodies fit into one packet: compressing them gains nothing. */
const bytesMin = 1_024

/**
 * Compresses the bodies above 1 KiB that are built whole, with the coding that the client prefers; their length stays known.
 * Streams and bodies that already have a coding are sent unchanged.
 */
export function compressResponses(app: App): void {
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(typeof payload === 'string' ? payload : '')
    const isLarge = body.length > bytesMin
    const vary = `${reply.getHeader('vary') ?? ''}`
    if ((isLarge || reply.statusCode === 304) && !/accept-encoding/i.test(vary)) {
      reply.header('vary', vary ? `${vary}, accept-encoding` : 'accept-encoding')
    }
    if (!isLarge || reply.hasHeader('content-encoding')) return done(null, payload)
    const coding = chooseEncoding(request.headers['accept-encoding'], codings)
    if (!coding) return done(null, payload)
    reply.header('content-encoding', coding)
    encoders[coding](body).then(
      (encoded) => done(null, encoded),
      (error: Error) => done(error),
    )
  })
}
