import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { checksumRoutes } from './api/checksums/routes.ts'
import { clickRoutes } from './api/clicks/routes.ts'
import { eventListRoutes } from './api/events/list/routes.ts'
import { eventRoutes } from './api/events/routes.ts'
import { funnelRoutes } from './api/funnels/routes.ts'
import { addGauges } from './api/health/gauges.ts'
import { healthRoutes } from './api/health/routes.ts'
import { journeyRoutes } from './api/journeys/routes.ts'
import { keyRoutes } from './api/key/routes.ts'
import { metadataRoutes } from './api/metadata/routes.ts'
import { reportRoutes } from './api/reports/routes.ts'
import { schemaRoutes } from './api/schema/routes.ts'
import { searchRoutes } from './api/search/routes.ts'
import { statsRoutes } from './api/stats/routes.ts'
import { usageRoutes } from './api/usage/routes.ts'
import { versionRoutes } from './api/versions/routes.ts'
import { addAccessControl, apiPrefix } from './http/accessControl.ts'
import { baseServer, type ServerParts } from './http/baseServer.ts'
import { compressResponses } from './http/compression.ts'
import type { App, RouteContext } from './http/context.ts'
import { observeDisconnections } from './http/disconnection.ts'
import { exposedHeaders } from './http/docs/responseHeaders.ts'
import { addDocs } from './http/docs/routes.ts'
import { addExplore } from './http/explore/routes.ts'
import { outerRequest } from './http/innerRequest.ts'
import { addMcp } from './http/mcp/routes.ts'
import { handleUnknownPath } from './http/notFound.ts'
import type { Metrics } from './http/prometheusMetrics.ts'
import { openResponseCache, type ResponseCache } from './http/responseCache.ts'
import { openStreaming } from './http/streaming.ts'
import { parseQuery, readParameters } from './http/validation.ts'
import { openEntityValues } from './rows/entityValues.ts'
import { openNameCache } from './rows/nameCache.ts'
import { withoutPorts } from './settings/networks.ts'
import type { Settings } from './settings/settings.ts'
import type { Stores } from './stores/open.ts'
import type { Redis } from './stores/redis.ts'

export interface AppParts extends Pick<ServerParts, 'log' | 'arrivalMs' | 'pace'> {
  settings: Settings
  stores: Pick<Stores, 'clickhouse' | 'postgres' | 'postgresReader' | 'listen'>
  /** The current time, epoch milliseconds. */
  now: () => number
  /** Cache of responses with numbers, such as reports and funnels; created by default. */
  responseCache?: ResponseCache
  metrics?: Metrics
  /** Shares rate limits among instances; without it this instance counts alone. */
  redis?: Redis | undefined
  /** Time of running exports at shutdown, milliseconds (24,000). */
  exportGraceMs?: number
  /** Functions that add the routes under /api/v1; all by default. */
  routes?: readonly ((app: App, context: RouteContext) => void)[]
}

const allRoutes = [
  clickRoutes,
  versionRoutes,
  metadataRoutes,
  searchRoutes,
  statsRoutes,
  reportRoutes,
  usageRoutes,
  keyRoutes,
  schemaRoutes,
  checksumRoutes,
  eventListRoutes,
  funnelRoutes,
  journeyRoutes,
  eventRoutes,
]

/** Ten times the size of an event with 20 properties of 256 characters. */
const bodyMaxBytes = 65_536

/** Builds the server, ready for requests; the caller makes it listen. */
export async function buildApp(parts: AppParts): Promise<App> {
  const { settings, stores, redis, now, log, metrics, routes = allRoutes } = parts
  const { responseCache = openResponseCache({ onResponse: metrics?.countResponse }) } = parts
  const app = baseServer({
    log,
    metrics,
    arrivalMs: parts.arrivalMs,
    pace: parts.pace,
    bodyLimit: bodyMaxBytes,
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    ...(settings.TRUST_PROXY && { trustProxy: settings.TRUST_PROXY.split(',') }),
    // TRAP: the router rejects a longer parameter before access control; the limit of the headers is below this one.
    routerOptions: { querystringParser: parseQuery, maxParamLength: bodyMaxBytes },
  })
  if (settings.TRUST_PROXY) {
    app.addHook('onRequest', async ({ raw: { headers } }) => {
      const forwardedFor = headers['x-forwarded-for']
      if (typeof forwardedFor === 'string') headers['x-forwarded-for'] = withoutPorts(forwardedFor)
    })
  }
  closeConnectionsAtShutdown(app)
  compressResponses(app)
  observeDisconnections(app)
  if (metrics) {
    stores.clickhouse.onQuery = metrics.timeQuery
    addGauges(metrics, stores, { redis, now })
  }
  // Before `handleUnknownPath`, which would treat the route of cors as a path of the API.
  if (settings.CORS_ORIGINS !== undefined) await app.register(cors, corsOptions(settings.CORS_ORIGINS))
  handleUnknownPath(app)
  const eventLimits = addAccessControl(app, {
    postgres: stores.postgres,
    listen: stores.listen,
    redis,
    withoutRedis: settings.RATE_LIMIT_WITHOUT_REDIS,
    readsPerAccount: settings.READS_PER_ACCOUNT,
    now,
    onDenied: metrics?.countDenial,
  })
  const findValues = openEntityValues(stores.postgres, now)
  app.addHook('preHandler', async ({ caller, query }) => {
    if (caller) caller.entityValues = await findValues(caller.accountId, query)
  })
  const querySchemas = readParameters(app)
  await addDocs(app, settings)
  addExplore(app, settings)
  const streaming = openStreaming(parts.exportGraceMs)
  app.addHook('preClose', async () => streaming.close())
  const context: RouteContext = {
    stores,
    nameCache: openNameCache(stores.postgres),
    responseCache,
    streaming,
    now,
    registry: metrics?.registry,
    eventLimits,
    querySchemas,
  }
  addMcp(app, settings, context)
  healthRoutes(app, context, settings.RATE_LIMIT_WITHOUT_REDIS === 'closed' ? redis : undefined)
  await app.register(
    async (api) => {
      for (const addRoutes of routes) addRoutes(api.withTypeProvider<TypeBoxTypeProvider>(), context)
    },
    { prefix: apiPrefix },
  )
  await app.ready()
  return app
}

/** Allows the request headers that the API uses and exposes its response headers; keys are sent in a header, so no cookies. */
function corsOptions(origins: string): FastifyCorsOptions {
  return {
    origin: origins === '*' ? '*' : origins.split(','),
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: [
      ...['authorization', 'content-type', 'if-none-match'],
      ...['mcp-protocol-version', 'mcp-method', 'mcp-name'],
    ],
    exposedHeaders,
    maxAge: 600,
    strictPreflight: false,
  }
}

/** During shutdown every response closes its connection; a kept-alive connection would delay the shutdown. */
function closeConnectionsAtShutdown(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done(null, payload)
  })
  // The headers of an export can be sent before the shutdown begins.
  app.addHook('onResponse', async ({ raw }) => {
    // TRAP: the connection of an inner request has no such function.
    if (isClosing && !outerRequest()) raw.socket.destroySoon()
  })
}
