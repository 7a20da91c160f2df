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
import { addGate, apiPrefix } from './http/accessControl.ts'
import { answerBadHttp } from './http/clientErrorHandler.ts'
import type { App, Room } from './http/context.ts'
import { watchDisconnections } from './http/disconnection.ts'
import { addDocs } from './http/docs/openapi.ts'
import { answerError } from './http/errorHandler.ts'
import { makeHttpServer } from './http/httpServer.ts'
import { logAnswers } from './http/logging.ts'
import { answerUnknown } from './http/notFound.ts'
import { defaultReaderPace, type ReaderPace } from './http/readerPace.ts'
import { type Answers, openAnswers } from './http/responseCache.ts'
import { addSecurityHeaders } from './http/securityHeaders.ts'
import { openExports } from './http/streaming.ts'
import type { Metrics } from './http/telemetry.ts'
import { parseQuery, readParameters } from './http/validation.ts'
import { type Names, openNames } from './rows/nameCache.ts'
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
  names?: Names
  /** Answers of stats and reports that are shared and kept for a moment; opened when left out. */
  answers?: Answers
  /** Where the server logs; nowhere when left out. */
  log?: FastifyBaseLogger
  /** Where it counts its answers; nowhere when left out. */
  metrics?: Metrics
  /** Counts rate limits for all instances together; without it this one counts for itself. */
  redis?: Redis | undefined
  /** How long a request may take to arrive, in milliseconds: its headers a third of it. */
  arrivalMs?: number
  /** The least that clients have to read of responses. */
  pace?: ReaderPace
  /** What adds the routes under /api/v1; all of ours when left out. */
  rooms?: readonly ((app: App, room: Room) => void)[]
}

const allRooms = [
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
  const { settings, stores, redis, now, names = openNames(stores.postgres), metrics } = parts
  const { answers = openAnswers({ onAnswer: metrics?.countAnswer }), log, rooms = allRooms } = parts
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
    frameworkErrors: answerError,
    clientErrorHandler: answerBadHttp,
    // TRAP: a longer parameter than this would be answered before the gate; the limit of HTTP headers is below it.
    routerOptions: { querystringParser: parseQuery, maxParamLength: bodyMaxBytes },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler(answerError)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  closeWhatIsAnswered(app)
  watchDisconnections(app)
  if (log) logAnswers(app)
  if (metrics) {
    metrics.observe(app)
    stores.clickhouse.onQuery = metrics.timeQuery
    metrics.watchRollups(() => rollupAgeS(stores.postgres))
    if (redis) metrics.watchRedis(() => redis.isAway)
  }
  await addSecurityHeaders(app)
  // Before `answerUnknown`, which would take its route for one of ours.
  if (settings.CORS_ORIGINS !== undefined) await app.register(cors, corsOf(settings.CORS_ORIGINS))
  answerUnknown(app)
  const { countIdentifier } = await addGate(app, {
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
  const exports = openExports()
  app.addHook('preClose', async () => exports.close())
  const room: Room = { stores, names, answers, exports, now, registry: metrics?.registry, countIdentifier }
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
function corsOf(origins: string): FastifyCorsOptions {
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
function closeWhatIsAnswered(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done(null, payload)
  })
}
