import type { App, RouteContext } from '../../http/context.ts'
import type { Redis } from '../../stores/redis.ts'
import { openReadiness } from './readiness.ts'

/**
 * Liveness and readiness probes for an orchestrator; they need no API key.
 * @param redis given where requests fail without it
 */
export function healthRoutes(app: App, { stores, now }: RouteContext, redis: Redis | undefined): void {
  const assertReady = openReadiness({ ...stores, redis }, now)

  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'alive' }))

  app.get('/readyz', { schema: { hide: true } }, async () => {
    await assertReady()
    return { status: 'ready' }
  })
}
