import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../../../src/app.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { openCrashStores } from '../crashes/crashStores.ts'

export type FeedEngines = Awaited<ReturnType<typeof openFeedEngines>>

/** Opens migrated stores, an API on them, and a folder. Each engine can be killed. */
export async function openFeedEngines(options: Parameters<typeof openCrashStores>[0] = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-feed-'))
  const opened = await openCrashStores(options)
  const app = await buildApp({
    settings: readSettings(opened.environment),
    stores: opened.stores,
    now: Date.now,
    responseCache: openResponseCache({ ttlMs: 0 }),
  })
  const feeds = new Set<ChildProcess>()
  const end = async () => {
    for (const feed of feeds) feed.kill('SIGKILL')
    await app.close()
    await opened.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
  let ended: Promise<void> | undefined
  return {
    ...opened,
    app,
    folder,
    /** Feeds on the engines; `close` kills those that run. */
    feeds,
    close(): Promise<void> {
      ended ??= end()
      return ended
    },
  }
}
