import type { CleanUp } from '../../kit/cleanUp.ts'
import type { openCrashStores } from '../crashes/crashStores.ts'
import { openFeedEngines } from './feedEngines.ts'
import { runFeedKills } from './feedKills.ts'

interface SeedOutcome {
  seed: number
  /** What is wrong, empty when nothing is. */
  faults: string[]
  summary: string
}

/** Seeds from the first to the last one; each outcome is reported when it is known. */
type FeedScenario = (
  first: number,
  last: number,
  cleanUp: CleanUp,
  report: (outcome: SeedOutcome) => void,
) => Promise<void>

/** The engines of a seed, by the remainder of the seed. Seeds with different remainders run concurrently: mostly they wait for leases to expire. */
const enginesByRest: readonly Parameters<typeof openCrashStores>[0][] = [
  { hasPostgresServer: true },
  {},
  { hasPostgresServer: true, isCluster: true },
]
/** Seeds for which engines are used: afterwards a store has rows of that many seeds. */
const seedsPerStore = 10

export const feedScenarios: Record<string, FeedScenario> = {
  async 'random rows through kills and suspensions'(first, last, cleanUp, report) {
    const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    const runRest = async (options: (typeof enginesByRest)[number], rest: number) => {
      const own = seeds.filter((seed) => seed % enginesByRest.length === rest)
      for (let at = 0; at < own.length; at += seedsPerStore) {
        const engines = await openFeedEngines(options)
        cleanUp.add(() => engines.close())
        try {
          for (const seed of own.slice(at, at + seedsPerStore)) report(await runSeed(engines, seed))
        } finally {
          await engines.close()
        }
      }
    }
    await Promise.all(enginesByRest.map(runRest))
  },
}

async function runSeed(engines: Awaited<ReturnType<typeof openFeedEngines>>, seed: number): Promise<SeedOutcome> {
  const startedMs = performance.now()
  const { faults, moments } = await runFeedKills(engines, seed).catch((error: Error) => ({
    faults: [error.stack ?? error.message],
    moments: [],
  }))
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0)
  return { seed, faults, summary: `${moments.join('; ')}; ${seconds} s` }
}
