import type { App } from './context.ts'
import { isUnknownPath } from './notFound.ts'

/**
 * Adds `Cache-Control` to every response of routes with a scope and of unknown paths, errors too: with an `ETag` clients
 * may cache it and must revalidate it before each use; without one it must not be cached.
 */
export function addCacheControl(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.routeOptions.config.scope || isUnknownPath(request)) {
      reply.header('cache-control', reply.hasHeader('etag') ? 'private, no-cache' : 'private, no-store')
    }
    done(null, payload)
  })
}
