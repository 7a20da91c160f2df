import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { refuseExcess } from './clientErrorHandler.ts'
import { oneRequestPerConnection } from './pipelining.ts'
import { enforceReaderPace, type ReaderPace } from './readerPace.ts'

/** Address and headers of a request together, in bytes. */
const headersMaxBytes = 16_384

/** How long a connection without a request stays open, in milliseconds: longer than load balancers keep theirs. */
const keepAliveMs = 72_000

export interface HttpServerOptions {
  /** How long a request may take to arrive, in milliseconds: its headers a third of it. */
  arrivalMs: number
  pace: ReaderPace
  /** Told of each connection that is closed because its client reads too slowly. */
  onSlowReader: Parameters<typeof enforceReaderPace>[2]
}

/** Makes the server that listens: what it takes in, in what order, and for how long a client may keep it busy. */
export function makeHttpServer(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  { arrivalMs, pace, onSlowReader }: HttpServerOptions,
): Server {
  const server = createServer(
    {
      maxHeaderSize: headersMaxBytes,
      requestTimeout: arrivalMs,
      headersTimeout: arrivalMs / 3,
      // How often Node looks for requests that are late; its own 30 s would double our limits.
      connectionsCheckingInterval: Math.min(1_000, arrivalMs / 3),
      keepAliveTimeout: keepAliveMs,
    },
    oneRequestPerConnection(handler, refuseExcess),
  )
  enforceReaderPace(server, pace, onSlowReader)
  return server
}
