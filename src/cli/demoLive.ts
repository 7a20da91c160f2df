import { randomUUID } from 'node:crypto'
import type { Account } from '../accounts/accounts.ts'
import { openFeed } from '../feed/feed.ts'
import { openFeedStore } from '../feed/feedStore.ts'
import { rowBytesMax } from '../feed/readRows.ts'
import { originsOf } from '../feed/rowOrigins.ts'
import { splitBlock } from '../import/parsers/lines.ts'
import type { Stores } from '../stores/open.ts'
import { runPeriodically } from '../stores/timing/periodic.ts'
import { clickRows } from './demoData/clicks.ts'
import { conversionRows } from './demoData/conversions.ts'
import { openDraws } from './demoData/draws.ts'
import { demoOf } from './demoData/visits.ts'

const flushMs = 2_000
/** Rows are copies of generated rows with new ids and times, since the demo has few rows of each minute. */
const copied = { seed: 2, clicks: 2_000, days: 2 }
const clicksPerSecond = 3
const conversionsPerClick = 0.1

/**
 * Feeds an account with clicks and conversions of now, until it is stopped; not while `tributary feed` has the account.
 * @param warn receives the failures of a second
 */
export function startLiveDemo(stores: Stores, { id: accountId, currency }: Account, warn: (line: string) => void) {
  const demo = demoOf({ ...copied, nowMs: Date.now(), currency })
  const [clicks, conversions] = [[...clickRows(demo)], [...conversionRows(demo)]]
  const draws = openDraws(randomUUID())
  const store = openFeedStore(stores, { onMessage: warn, feed: 'feed-demo' })
  const feed = openFeed({ postgres: stores.postgres, store, flushMs, warn })
  const storing = feed.queue.run().catch((error: Error) => warn(`The demo is no longer fed: ${error.message}`))
  const origin = originsOf(false, Date.now)
  function* rowsOf(now: string) {
    for (let left = draws.count(2 * clicksPerSecond * draws.unit()); left > 0; left--) {
      const clickId = `live-${randomUUID()}`
      yield { accountId, resource: 'clicks', ...draws.pick(clicks), id: clickId, clickedAt: now }
      if (!draws.chance(conversionsPerClick)) continue
      // The offer is copied from the click.
      const own = { offerId: undefined, convertedAt: now, createdAt: now, updatedAt: now }
      yield { accountId, resource: 'conversions', ...draws.pick(conversions), id: clickId, clickId, ...own }
    }
  }
  const stop = runPeriodically(
    async () => {
      const rows = Array.from(rowsOf(new Date().toISOString()), (row) => JSON.stringify(row))
      feed.queue.add(await feed.read(splitBlock(Buffer.from(rows.join('\n')), rowBytesMax), origin()), 0)
    },
    warn,
    1_000,
  )
  return async () => {
    await stop()
    feed.queue.close()
    await storing
    await store.claims.close()
  }
}
