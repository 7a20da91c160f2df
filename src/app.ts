import helmet from '@fastify/helmet'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { v7 as uuidv7 } from 'uuid'
import { type Answers, openAnswers } from './answers.ts'
import { clickRoutes } from './clicks/routes.ts'
import { conversionRoutes } from './conversions/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { answerBadHttp } from './gate/badHttp.ts'
import { addDocs } from './gate/docs.ts'
import { answerError } from './gate/errors.ts'
import { addGate, apiPrefix } from './gate/gate.ts'
import { logAnswers } from './gate/log.ts'
import { parseQuery, readParameters } from './gate/parameters.ts'
import { answerUnknown } from './gate/unknown.ts'
import type { Metrics } from './health/metrics.ts'
import { healthRoutes } from './health/routes.ts'
import { metadataRoutes } from './metadata/routes.ts'
import { type Names, openNames } from './names.ts'
import { reportRoutes } from './reports/routes.ts'
import type { App, Room } from './room.ts'
import type { Settings } from './settings.ts'
import { statsRoutes } from './stats/routes.ts'
import type { Stores } from './stores/open.ts'

/** What the server is made of. */
export interface AppParts {
  settings: Settings
  stores: Pick<Stores, 'clickhouse' | 'postgres'>
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
  /** What adds the routes under /api/v1; all of ours when left out. */
  rooms?: readonly ((app: App, room: Room) => void)[]
}

const allRooms = [clickRoutes, conversionRoutes, metadataRoutes, statsRoutes, reportRoutes, eventRoutes]

/** An event with 20 properties of 256 characters fits ten times. */
const bodyMaxBytes = 65_536
/** A request that arrives more slowly is cut off. */
const requestTimeoutMs = 30_000

/** Builds the server, ready to be asked; listening is the caller's. */
export async function buildApp(parts: AppParts): Promise<App> {
  const { stores, now, names = openNames(stores.postgres), answers = openAnswers() } = parts
  const { log, metrics, rooms = allRooms } = parts
  const app: App = Fastify({
    ...(log && { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => uuidv7(),
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    bodyLimit: bodyMaxBytes,
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
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
  if (log) logAnswers(app)
  metrics?.observe(app)
  await app.register(helmet, {
    // What only matters to pages is left out: it would be sent with every answer.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    // The domain above ours is not ours to decide for.
    strictTransportSecurity: { includeSubDomains: false },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
  })
  answerUnknown(app)
  await addGate(app, stores.postgres, now)
  readParameters(app)
  await addDocs(app)
  const room: Room = { stores, names, answers, now }
  healthRoutes(app, room)
  await app.register(
    async (api) => {
      for (const addRoutes of rooms) addRoutes(api.withTypeProvider<TypeBoxTypeProvider>(), room)
    },
    { prefix: apiPrefix },
  )
  await app.ready()
  return app
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
