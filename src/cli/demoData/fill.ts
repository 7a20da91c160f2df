import { setImmediate } from 'node:timers/promises'
import type { Account } from '../../accounts/accounts.ts'
import type { ImportObserver } from '../../import/options.ts'
import { inBatches } from '../../import/parsers/batches.ts'
import type { ResourceName } from '../../import/resourceNames.ts'
import { importRows } from '../../import/run.ts'
import type { ImportSource } from '../../import/source.ts'
import { emptyTally, type Tally } from '../../import/tally.ts'
import type { Stores } from '../../stores/open.ts'
import { clickRows } from './clicks.ts'
import { conversionRows, pixelEventRows } from './conversions.ts'
import { costRows } from './costs.ts'
import { campaignRows, landingPageRows, offerRows, trafficSourceRows } from './metadata.ts'
import type { Demo } from './visits.ts'

type RowStores = Pick<Stores, 'clickhouse' | 'postgres'>
export type DemoTallies = Record<ResourceName, Tally>

/** In import order: entities before the rows that refer to them. */
const generators: readonly [ResourceName, (demo: Demo) => Iterable<object>][] = [
  ['traffic-sources', trafficSourceRows],
  ['landing-pages', landingPageRows],
  ['offers', offerRows],
  ['campaigns', campaignRows],
  ['clicks', clickRows],
  ['conversions', conversionRows],
  ['costs', costRows],
  ['pixel-events', pixelEventRows],
]

/** Rows of all resources for each click. */
const rowsPerClick = 1.4

/**
 * Imports the rows of a demo into an account, as `tributary import` does: stored rows stay unchanged, and after an
 * interruption another call completes it.
 * @throws what `importRows` throws
 */
export async function fillDemo(stores: RowStores, account: Account, demo: Demo, observer: ImportObserver) {
  const tallies = {} as DemoTallies
  let read = 0
  async function* numbered(rows: Iterable<object>) {
    for (const batch of inBatches(rows)) {
      // A server answers requests between two batches.
      await setImmediate()
      yield batch.map((row) => ({ line: ++read, text: '', fields: row as Record<string, unknown> }))
    }
  }
  for (const [resource, rowsOf] of generators) {
    const tally = emptyTally()
    tallies[resource] = tally
    const source: ImportSource = {
      rows: numbered(rowsOf(demo)),
      from: 'json',
      // Each call has its own fingerprint: equal lines of two calls do not tell which one is newer.
      fingerprint: async () => `demo-${demo.nowMs.toString(16)}`.slice(0, 16),
      fractionRead: () => Math.min(1, read / (demo.perDay * demo.days * rowsPerClick)),
    }
    await importRows(stores, { resource, account, source, rejects: undefined, nowMs: demo.nowMs }, tally, {
      ...observer,
      onProgress: (_, fraction) => observer.onProgress({ ...tally, read }, fraction),
    })
    if (tally.rejected > 0) throw new Error(`The demo made ${tally.rejected} ${resource} that the importer refuses.`)
  }
  return tallies
}
