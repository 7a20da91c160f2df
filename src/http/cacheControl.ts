import type { App } from './context.ts'
import { isUnknownPath } from './notFound.ts'

/**
 * Adds `Cache-Control` to every response that a key may have had a part in, errors too: with an `ETag` clients may keep
 * it and must revalidate it before each use; without one nothing may keep it.
 */
export function addCacheControl(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.routeOptions.config.scope || isUnknownPath(request)) {
      reply.header('cache-control', reply.hasHeader('etag') ? 'private, no-cache' : 'private, no-store')
    }
    done(null, payload)
  })
}
