import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../../../src/app.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { readSettings } from '../../../src/settings.ts'
import { startRedis } from '../../kit/redis.ts'
import { openCrashStores } from '../crashes/crashStores.ts'

export type FeedEngines = Awaited<ReturnType<typeof openFeedEngines>>

/** Opens migrated stores, a Redis that keeps its entries, and an API on the stores. Each engine can be killed. */
export async function openFeedEngines(options: Parameters<typeof openCrashStores>[0] = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-feed-'))
  const redis = await startRedis(folder)
  const opened = await openCrashStores(options)
  const app = await buildApp({
    ...{ settings: readSettings(opened.environment), stores: opened.stores, now: Date.now },
    responseCache: openResponseCache({ ttlMs: 0 }),
  })
  return {
    ...{ ...opened, app, redis, folder },
    async close(): Promise<void> {
      await app.close()
      await opened.close()
      redis.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
    },
  }
}
