import type { App, Room } from '../room.ts'
import { openReadiness } from './readiness.ts'

/** What an orchestrator asks, without a key: whether to restart the process, and whether to send it requests. */
export function healthRoutes(app: App, { stores, now }: Room): void {
  const makeSure = openReadiness(stores, now)

  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'alive' }))

  app.get('/readyz', { schema: { hide: true } }, async () => {
    await makeSure()
    return { status: 'ready' }
  })
}
