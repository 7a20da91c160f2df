import helmet from '@fastify/helmet'
import Fastify from 'fastify'
import type { App } from './context.ts'

/**
 * Puts the headers of helmet on every answer. Ours are the same each time, and helmet makes them anew for each, which
 * took 10 µs of every request: it is asked for them once.
 */
export async function addSecurityHeaders(app: App): Promise<void> {
  const headers = Object.entries(await headersOfHelmet())
  app.addHook('onRequest', (_request, reply, done) => {
    for (const [name, value] of headers) reply.header(name, value)
    done()
  })
}

async function headersOfHelmet(): Promise<Record<string, string>> {
  const model = Fastify()
  await model.register(helmet, {
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
  // Helmet writes to the bare answer, and nobody else has yet.
  model.get('/', async (_request, reply) => reply.raw.getHeaders())
  const answer = await model.inject('/')
  await model.close()
  return answer.json()
}
