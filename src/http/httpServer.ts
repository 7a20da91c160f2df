import { createServer, type Server } from 'node:http'
import { refuseExcess } from './clientErrorHandler.ts'
import { type Handler, oneRequestPerConnection } from './pipelining.ts'
import { enforceReaderPace, type ReaderPace } from './slowReaders.ts'

/** Limit of the URL and the headers of a request together, bytes. */
const headersMaxBytes = 16_384

/** Default limit of the time that a request takes to arrive, milliseconds. */
export const arrivalMaxMs = 30_000

/** Idle timeout of a connection, milliseconds; load balancers have shorter ones, so they close first. */
const keepAliveMs = 72_000

/**
 * Creates the HTTP server with limits of size, order and time for each connection.
 * @param arrivalMs limit of the time that a request takes to arrive, milliseconds; a third of it for the headers
 * @param onSlowReader called for each connection that is closed because its client reads too slowly
 */
export function makeHttpServer(
  handler: Handler,
  arrivalMs: number,
  pace: ReaderPace,
  onSlowReader: Parameters<typeof enforceReaderPace>[2],
): Server {
  const server = createServer(
    {
      maxHeaderSize: headersMaxBytes,
      // `requestForm.ts` refuses a request without it, with an error of the API.
      requireHostHeader: false,
      requestTimeout: arrivalMs,
      headersTimeout: arrivalMs / 3,
      // Interval of Node's check for late requests; its default of 30 s would double the limits.
      connectionsCheckingInterval: Math.min(1_000, arrivalMs / 3),
      keepAliveTimeout: keepAliveMs,
    },
    oneRequestPerConnection(handler, refuseExcess),
  )
  // TRAP: by default Node drops all headers after the first 1,000, without an error. `requestForm.ts` limits their number.
  server.maxHeadersCount = 0
  enforceReaderPace(server, pace, onSlowReader)
  return server
}
