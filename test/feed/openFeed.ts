import { pino } from 'pino'
import { Registry } from 'prom-client'
import { type Feed, openFeed } from '../../src/feed/feed.ts'
import { openFeedStore } from '../../src/feed/feedStore.ts'
import { openFeedMetrics } from '../../src/feed/metrics.ts'
import { toRejectsFile } from '../../src/feed/rejectsFile.ts'
import { buildFeedServer, type FeedServerParts } from '../../src/feed/routes.ts'
import { originsOf } from '../../src/feed/rowOrigins.ts'
import type { App } from '../../src/http/context.ts'
import type { Stores } from '../../src/stores/open.ts'

export const token = 'a-token-of-senders-with-32-characters'

export type TestFeed = ReturnType<typeof openTestFeed>

/** Opens a feed without a pause between flushes, and its server, which does not listen. */
export function openTestFeed(
  stores: Pick<Stores, 'clickhouse' | 'postgres'>,
  parts: Partial<FeedServerParts> & { rejects?: string } = {},
) {
  const store = openFeedStore(stores, { onMessage: () => {} })
  const warnings: string[] = []
  const warn = (line: string) => void warnings.push(line)
  const keepRejects = parts.rejects === undefined ? undefined : toRejectsFile(parts.rejects, warn, async () => {})
  // Without metrics of the process, which would keep a closed feed in memory.
  const metrics = openFeedMetrics({ registry: new Registry(), addGauge() {} }, () => feed.queue)
  const feed: Feed = openFeed({ postgres: stores.postgres, store, keepRejects, warn, flushMs: 0, metrics })
  const storing = feed.queue.run()
  // A test then fails, instead of waiting for results.
  const failed = storing.then(() => new Promise<never>(() => {}))
  failed.catch(() => {})
  const log = pino({ level: 'silent' })
  const app = buildFeedServer({
    token,
    feed: () => feed,
    origin: originsOf(false, Date.now),
    log,
    metrics: undefined,
    ...parts,
  })
  return {
    feed,
    app,
    store,
    warnings,
    send: (rows: readonly object[], query = '') => Promise.race([sendTo(app, rows, query), failed]),
    async close(): Promise<void> {
      feed.queue.close()
      await storing
      app.server.closeAllConnections()
      await app.close()
      await store.claims.close()
    },
  }
}

/**
 * Stores rows of any accounts and resources together, in a tenth of the time of an import for each resource.
 * @throws Error if a row is not inserted
 */
export async function storeRows(
  stores: Pick<Stores, 'clickhouse' | 'postgres'>,
  rows: readonly { accountId: string; resource: string }[],
): Promise<void> {
  const feed = openTestFeed(stores)
  const { results } = await feed.send(rows)
  await feed.close()
  const others = results.filter(({ result }) => result !== 'inserted')
  if (others.length > 0 || results.length < rows.length) throw new Error(JSON.stringify(others))
}

/** The rows of an account by their resources, as `storeRows` takes them. */
export function rowsOfAccount(accountId: string, byResource: Readonly<Record<string, readonly object[]>>) {
  return Object.entries(byResource).flatMap(([resource, rows]) => rows.map((row) => ({ accountId, resource, ...row })))
}

/** A click at ten on 20 November. */
export function clickOf(accountId: string, id: string, fields: object = {}) {
  return { accountId, resource: 'clicks', id, clickedAt: '2026-11-20T10:00:00Z', ...fields }
}

export function conversionOf(accountId: string, id: string, fields: object = {}) {
  return { accountId, resource: 'conversions', id, convertedAt: '2026-11-20T11:00:00Z', status: 'pending', ...fields }
}

/** Sends rows as a sender does. @returns the status and the result of each row */
export async function sendTo(app: App, rows: readonly object[], query = '') {
  const response = await app.inject({
    method: 'POST',
    url: `/rows${query}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    payload: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  const lines = response.body.split('\n').filter((line) => line !== '')
  return { status: response.statusCode, headers: response.headers, results: lines.map((line) => JSON.parse(line)) }
}
