import type { App, RouteContext } from '../../http/context.ts'
import type { Redis } from '../../stores/redis.ts'
import { openReadiness } from './readiness.ts'

/**
 * What an orchestrator asks, without a key: whether to restart the process, and whether to send it requests.
 * @param redis given where no request is answered without it
 */
export function healthRoutes(app: App, { stores, now }: RouteContext, redis: Redis | undefined): void {
  const makeSure = openReadiness({ ...stores, redis }, now)

  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'alive' }))

  app.get('/readyz', { schema: { hide: true } }, async () => {
    await makeSure()
    return { status: 'ready' }
  })
}
