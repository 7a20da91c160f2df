import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyServerOptions, LogController } from 'fastify'
import { v7 as uuidv7 } from 'uuid'
import { handleClientError } from './clientErrorHandler.ts'
import type { App } from './context.ts'
import { handleError } from './errorHandler.ts'
import { arrivalMaxMs, makeHttpServer } from './httpServer.ts'
import { outerRequest } from './innerRequest.ts'
import { logResponses } from './logging.ts'
import { refuseAmbiguousRequests } from './requestForm.ts'
import { addCommonHeaders } from './securityHeaders.ts'
import { defaultReaderPace, type ReaderPace } from './slowReaders.ts'

export interface ServerParts extends Omit<FastifyServerOptions, 'logger' | 'loggerInstance'> {
  log?: FastifyBaseLogger | undefined
  metrics?: { observe(app: App): void } | undefined
  /** Limit of the time that a request takes to arrive, milliseconds (30,000); a third of it for the headers. */
  arrivalMs?: number | undefined
  /** Minimum rate at which clients must read responses. */
  pace?: ReaderPace | undefined
}

/** Builds a server without routes: each request has an id, limits, a line in the log, and errors in the form of the API. */
export function baseServer({ log, metrics, arrivalMs, pace, ...options }: ServerParts): App {
  const app: App = Fastify({
    ...(log && { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => outerRequest()?.id ?? uuidv7(),
    // Responses during a shutdown have the form of all others, with Retry-After.
    return503OnClosing: false,
    serverFactory: (handler) =>
      makeHttpServer(handler, arrivalMs ?? arrivalMaxMs, pace ?? defaultReaderPace, (client) =>
        log?.info(client, 'connection closed: the client reads too slowly'),
      ),
    frameworkErrors: handleError,
    clientErrorHandler: handleClientError,
    ...options,
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler(handleError)
  addCommonHeaders(app)
  refuseAmbiguousRequests(app)
  if (log) logResponses(app)
  metrics?.observe(app)
  return app
}
