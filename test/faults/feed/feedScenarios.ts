import type { CleanUp } from '../../kit/cleanUp.ts'
import { forEachConcurrently } from '../../kit/forEachConcurrently.ts'
import type { CrashStoresOptions } from '../crashes/crashStores.ts'
import { type FeedEngines, openFeedEngines } from './feedEngines.ts'
import { runFeedKills } from './feedKills.ts'
import { runOverload } from './overload.ts'

interface SeedOutcome {
  seed: number
  /** What is wrong, empty when nothing is. */
  faults: string[]
  summary: string
}

/** Seeds from the first to the last one; each outcome is reported when it is known. */
export type SeedScenario = (
  first: number,
  last: number,
  cleanUp: CleanUp,
  report: (outcome: SeedOutcome) => void,
) => Promise<void>

/** The engines of a seed, by the remainder of the seed. Seeds with different remainders run concurrently: mostly they wait for leases to expire. */
const enginesByRest: readonly CrashStoresOptions[] = [
  { hasPostgresServer: true },
  {},
  { hasPostgresServer: true, isCluster: true },
]
/** Seeds for which engines are used: afterwards a store has rows of that many seeds. */
const seedsPerStore = 10

export const feedScenarios: Record<string, SeedScenario> = {
  'random rows through kills and suspensions': seedScenario(enginesByRest, enginesByRest.length, runFeedKills),
  // One run, whatever the seeds are.
  'more rows than a slow machine stores': (seed, _last, cleanUp, report) =>
    seedScenario([{}], 1, (engines) => runOverload(engines))(seed, seed, cleanUp, report),
}

/**
 * @param enginesByRest engines of a seed, by the remainder of the seed
 * @param concurrency number of remainders whose seeds run concurrently
 */
export function seedScenario(
  enginesByRest: readonly CrashStoresOptions[],
  concurrency: number,
  run: (engines: FeedEngines, seed: number) => Promise<{ faults: string[]; moments: string[] }>,
): SeedScenario {
  return async (first, last, cleanUp, report) => {
    const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    await forEachConcurrently([...enginesByRest.entries()], concurrency, async ([rest, options]) => {
      const own = seeds.filter((seed) => seed % enginesByRest.length === rest)
      for (let at = 0; at < own.length; at += seedsPerStore) {
        const engines = await openFeedEngines(options)
        cleanUp.add(() => engines.close())
        try {
          for (const seed of own.slice(at, at + seedsPerStore)) {
            const startedMs = performance.now()
            const { faults, moments } = await run(engines, seed).catch((error: Error) => ({
              faults: [error.stack ?? error.message],
              moments: [],
            }))
            const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0)
            report({ seed, faults, summary: `${moments.join('; ')}; ${seconds} s` })
          }
        } finally {
          await engines.close()
        }
      }
    })
  }
}
