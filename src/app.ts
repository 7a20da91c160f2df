import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { v7 as uuidv7 } from 'uuid'
import { clickRoutes } from './api/clicks/routes.ts'
import { conversionRoutes } from './api/conversions/routes.ts'
import { eventRoutes } from './api/events/routes.ts'
import { rollupAgeS } from './api/health/rollupAge.ts'
import { healthRoutes } from './api/health/routes.ts'
import { metadataRoutes } from './api/metadata/routes.ts'
import { reportRoutes } from './api/reports/routes.ts'
import { searchRoutes } from './api/search/routes.ts'
import { statsRoutes } from './api/stats/routes.ts'
import { usageRoutes } from './api/usage/routes.ts'
import { addAccessControl, apiPrefix } from './http/accessControl.ts'
import { handleClientError } from './http/clientErrorHandler.ts'
import type { App, RouteContext } from './http/context.ts'
import { observeDisconnections } from './http/disconnection.ts'
import { addDocs } from './http/docs/openapi.ts'
import { handleError } from './http/errorHandler.ts'
import { makeHttpServer } from './http/httpServer.ts'
import { logResponses } from './http/logging.ts'
import { handleUnknownPath } from './http/notFound.ts'
import { defaultReaderPace, type ReaderPace } from './http/readerPace.ts'
import { openResponseCache, type ResponseCache } from './http/responseCache.ts'
import { addSecurityHeaders } from './http/securityHeaders.ts'
import { openStreaming } from './http/streaming.ts'
import type { Telemetry } from './http/telemetry.ts'
import { parseQuery, readParameters } from './http/validation.ts'
import { type NameCache, openNameCache } from './rows/nameCache.ts'
import type { Settings } from './settings.ts'
import type { Stores } from './stores/open.ts'
import type { Redis } from './stores/redis.ts'

/** What the server is made of. */
export interface AppParts {
  settings: Settings
  stores: Pick<Stores, 'clickhouse' | 'postgres' | 'postgresReader' | 'listen'>
  /** The present moment in epoch milliseconds. */
  now: () => number
  /** Names of campaigns and the like; opened on `stores` when left out. */
  nameCache?: NameCache
  /** Answers of stats and reports that are shared and kept for a moment; opened when left out. */
  responseCache?: ResponseCache
  /** Where the server logs; nowhere when left out. */
  log?: FastifyBaseLogger
  /** Where it counts its answers; nowhere when left out. */
  telemetry?: Telemetry
  /** Counts rate limits for all instances together; without it this one counts for itself. */
  redis?: Redis | undefined
  /** How long a request may take to arrive, in milliseconds: its headers a third of it. */
  arrivalMs?: number
  /** The least that clients have to read of responses. */
  pace?: ReaderPace
  /** What adds the routes under /api/v1; all of ours when left out. */
  routes?: readonly ((app: App, room: RouteContext) => void)[]
}

const allRoutes = [
  clickRoutes,
  conversionRoutes,
  metadataRoutes,
  searchRoutes,
  statsRoutes,
  reportRoutes,
  usageRoutes,
  eventRoutes,
]

/** An event with 20 properties of 256 characters fits ten times. */
const bodyMaxBytes = 65_536

/** Builds the server, ready to be asked; listening is the caller's. */
export async function buildApp(parts: AppParts): Promise<App> {
  const { settings, stores, redis, now, nameCache: names = openNameCache(stores.postgres), telemetry: metrics } = parts
  const {
    responseCache: answers = openResponseCache({ onResponse: metrics?.countResponse }),
    log,
    routes: rooms = allRoutes,
  } = parts
  const { arrivalMs = 30_000, pace = defaultReaderPace } = parts
  const app: App = Fastify({
    ...(log && { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => uuidv7(),
    return503OnClosing: false,
    serverFactory: (handler) =>
      makeHttpServer(handler, {
        arrivalMs,
        pace,
        onSlowReader: (client) => log?.info(client, 'connection closed: its client reads too slowly'),
      }),
    bodyLimit: bodyMaxBytes,
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    ...(settings.TRUST_PROXY && { trustProxy: settings.TRUST_PROXY.split(',') }),
    frameworkErrors: handleError,
    clientErrorHandler: handleClientError,
    // TRAP: a longer parameter than this would be answered before the gate; the limit of HTTP headers is below it.
    routerOptions: { querystringParser: parseQuery, maxParamLength: bodyMaxBytes },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler(handleError)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  closeAnsweredConnections(app)
  observeDisconnections(app)
  if (log) logResponses(app)
  if (metrics) {
    metrics.observe(app)
    stores.clickhouse.onQuery = metrics.timeQuery
    metrics.watchRollups(() => rollupAgeS(stores.postgres))
    if (redis) metrics.watchRedis(() => redis.isUnavailable)
  }
  await addSecurityHeaders(app)
  // Before `answerUnknown`, which would take its route for one of ours.
  if (settings.CORS_ORIGINS !== undefined) await app.register(cors, corsOptions(settings.CORS_ORIGINS))
  handleUnknownPath(app)
  const { countIdentifier } = await addAccessControl(app, {
    postgres: stores.postgres,
    listen: stores.listen,
    redis,
    withoutRedis: settings.RATE_LIMIT_WITHOUT_REDIS,
    readsPerAccount: settings.READS_PER_ACCOUNT,
    now,
    onDenied: metrics?.countDenial,
  })
  readParameters(app)
  await addDocs(app)
  const exports = openStreaming()
  app.addHook('preClose', async () => exports.close())
  const room: RouteContext = {
    stores,
    nameCache: names,
    responseCache: answers,
    streaming: exports,
    now,
    registry: metrics?.registry,
    countIdentifierUse: countIdentifier,
  }
  healthRoutes(app, room, settings.RATE_LIMIT_WITHOUT_REDIS === 'closed' ? redis : undefined)
  await app.register(
    async (api) => {
      for (const addRoutes of rooms) addRoutes(api.withTypeProvider<TypeBoxTypeProvider>(), room)
    },
    { prefix: apiPrefix },
  )
  await app.ready()
  return app
}

/** Browsers may send what calls need and read what answers tell; keys travel in a header, so no cookies. */
function corsOptions(origins: string): FastifyCorsOptions {
  return {
    origin: origins === '*' ? '*' : origins.split(','),
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: ['authorization', 'content-type', 'if-none-match'],
    exposedHeaders: [
      'etag',
      'retry-after',
      'www-authenticate',
      'x-as-of',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'x-request-id',
    ],
    maxAge: 600,
    strictPreflight: false,
  }
}

/** While the server closes, every answer ends its connection; one that is kept alive would hold up the end. */
function closeAnsweredConnections(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done(null, payload)
  })
}
