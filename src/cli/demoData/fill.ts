import { setImmediate } from 'node:timers/promises'
import type { Account } from '../../accounts/accounts.ts'
import { inBatches } from '../../import/parsers/batches.ts'
import type { ResourceName } from '../../import/resourceNames.ts'
import { emptyTally, type ImportObserver, importRows, type Tally } from '../../import/run.ts'
import type { ImportSource } from '../../import/source.ts'
import type { Stores } from '../../stores/open.ts'
import { clickRows } from './clicks.ts'
import { conversionRows, pixelEventRows } from './conversions.ts'
import { costRows } from './costs.ts'
import { campaignRows, landingPageRows, offerRows, trafficSourceRows } from './metadata.ts'
import type { Demo } from './visits.ts'

export type DemoTallies = Record<ResourceName, Tally>

/** In import order: entities before the rows that refer to them. */
const steps: readonly [ResourceName, (demo: Demo) => Iterable<object>, shareOfTime: number][] = [
  ['traffic-sources', trafficSourceRows, 0.01],
  ['landing-pages', landingPageRows, 0.01],
  ['offers', offerRows, 0.01],
  ['campaigns', campaignRows, 0.01],
  ['clicks', clickRows, 0.61],
  ['conversions', conversionRows, 0.15],
  ['costs', costRows, 0.01],
  ['pixel-events', pixelEventRows, 0.19],
]

/**
 * Imports the rows of a demo into an account, as `tributary import` does: stored rows stay unchanged, and after an
 * interruption another call completes it.
 * @throws what `importRows` throws
 */
export async function fillDemo(
  stores: Pick<Stores, 'clickhouse' | 'postgres'>,
  account: Account,
  demo: Demo,
  { onMessage, signal, onProgress }: ImportObserver,
): Promise<DemoTallies> {
  const tallies = {} as DemoTallies
  const whole = emptyTally()
  let shareDone = 0
  for (const [resource, rows, share] of steps) {
    const tally = emptyTally()
    const before = { ...whole }
    tallies[resource] = tally
    const source = sourceOf(rows(demo), demo)
    await importRows(stores, { resource, account, source, rejects: undefined, nowMs: demo.nowMs }, tally, {
      onMessage,
      signal,
      onProgress(_, fraction = 0) {
        for (const name of Object.keys(whole) as (keyof Tally)[]) whole[name] = before[name] + tally[name]
        onProgress(whole, shareDone + share * fraction)
      },
    })
    if (tally.rejected > 0) throw new Error(`The demo made ${tally.rejected} ${resource} that the importer refuses.`)
    shareDone += share
  }
  return tallies
}

function sourceOf(rows: Iterable<object>, demo: Demo): ImportSource {
  let line = 0
  function* numbered() {
    for (const row of rows) {
      line += 1
      yield { line, text: '', fields: row as Record<string, unknown> }
    }
  }
  async function* batches() {
    for (const batch of inBatches(numbered())) {
      // A server answers requests between two batches.
      await setImmediate()
      yield batch
    }
  }
  return {
    rows: batches(),
    from: 'json',
    // Each call has its own fingerprint: equal lines of two calls do not tell which one is newer.
    fingerprint: async () => `demo-${demo.nowMs.toString(16)}`.slice(0, 16),
    fractionRead: () => Math.min(1, line / (demo.perDay * demo.days)),
  }
}
