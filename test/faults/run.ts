// Fault tests under load: makes the API and its stores fail, and checks that every 200 response is correct, that every
// acknowledged event is stored exactly once, retried ones included, and that the service recovers by itself within
// seconds. Runs on servers as in production, then on the embedded engines, then the crash scenarios, the feeds and the replicas.
//   npm run faults [-- parts of names of scenarios, which begin with "Servers: ", "Embedded: ", "Crashes: ", "Feeds: " or "Replicas: "]
//     [--runs 10] [--seeds 61..120]
// Requires Debian's postgresql-15, redis-server, faketime, strace and libzookeeper-java, and permission to mount a small disk.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CleanUp } from '../kit/cleanUp.ts'
import { forEachConcurrently } from '../kit/forEachConcurrently.ts'
import { crashScenarios } from './crashes/crashScenarios.ts'
import { type Effort, embeddedFaults, openEmbeddedServer } from './embeddedFaults.ts'
import { feedScenarios } from './feed/feedScenarios.ts'
import { replicaScenarios } from './replicas/replicaRuns.ts'
import { runServerFaults, serverFaults } from './serverFaults.ts'
import { openServers } from './servers.ts'

const effort: Effort = { connections: 64, repetitions: 3, outageMs: 20_000 }
/** Holds both engines and what is stored before the disk is filled. */
const embeddedDiskMb = 600
/** Holds what ClickHouse stores during all server faults, including merged parts that are not yet removed. */
const serverDiskMb = 2_000
/** Number of concurrent crash scenarios: most of their time they wait for deadlines and for engines to start. */
const concurrentCrashes = 6

const options = { runs: { type: 'string', default: '1' }, seeds: { type: 'string', default: '1..60' } } as const
const { positionals, values } = parseArgs({ allowPositionals: true, options })
const runs = Number(values.runs)
const cleanUp = new CleanUp()
let failed = 0
for (let run = 1; run <= runs; run++) {
  await runOnServers()
  await runOnEmbeddedEngines()
}
await runCrashes()
await runSeeds()
// Clients of a load that did not finish keep the process alive.
process.exit(failed === 0 ? 0 : 1)

async function runOnServers(): Promise<void> {
  const selected = select('Servers', serverFaults)
  if (Object.keys(selected).length === 0) return
  await withFolder(serverDiskMb, async (folder) => {
    const servers = await openServers(folder, cleanUp)
    const { faults, events, reads } = await runServerFaults(servers, selected, (outcome) => {
      const seconds = (outcome.recoveryMs / 1000).toFixed(1)
      report(outcome.name, outcome.faults, `recovered after ${seconds} s; ${listed(Object.entries(outcome.failures))}`)
    })
    report('Servers: all of these together', faults, `${events} events stored once, ${reads} correct reads`)
  })
}

async function runOnEmbeddedEngines(): Promise<void> {
  for (const [name, fault] of Object.entries(select('Embedded', embeddedFaults))) {
    await withFolder(name.includes('disk') ? embeddedDiskMb : undefined, async (folder) => {
      const server = await openEmbeddedServer(folder)
      cleanUp.add(() => server.close())
      try {
        const { load, faults } = await server.run(fault, effort)
        report(name, faults, `${load.acknowledged.size} events stored once; ${listed([...load.failures])}`)
      } catch (error) {
        const engineLog = await readFile(join(folder, 'embedded.log'), 'utf8')
        report(name, [(error as Error).message, ...engineLog.trim().split('\n').slice(-15)], 'did not finish')
      }
    })
  }
}

/** Crashes have their own stores, so the scenarios of all runs share one queue. */
async function runCrashes(): Promise<void> {
  const selected = Object.entries(select('Crashes', crashScenarios))
  const all = Array.from({ length: runs }, (_, index) =>
    selected.map(([name, scenario]) => ({ name: runs === 1 ? name : `Run ${index + 1}: ${name}`, scenario })),
  ).flat()
  await forEachConcurrently(all, concurrentCrashes, async ({ name, scenario }) => {
    const startedMs = performance.now()
    const { faults, summary } = await scenario().catch((error: Error) => ({
      faults: [error.stack ?? error.message],
      summary: 'did not finish',
    }))
    report(name, faults, `${summary}; ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  })
}

/** Random sends: a run continues with the seeds after the ones of the run before. */
async function runSeeds(): Promise<void> {
  const [first = 1, last = first] = values.seeds.split('..').map(Number)
  const selected = { ...select('Feeds', feedScenarios), ...select('Replicas', replicaScenarios) }
  for (const [name, scenario] of Object.entries(selected)) {
    await scenario(first, last, cleanUp, ({ seed, faults, summary }) =>
      report(`${name}, seed ${seed}`, faults, summary),
    )
    console.log(`Continue with --seeds ${last + 1}..${2 * last - first + 1}`)
  }
}

/** @returns the scenarios that the command line selects, by the name that is printed */
function select<Scenario>(group: string, scenarios: Record<string, Scenario>): Record<string, Scenario> {
  const named = Object.entries(scenarios).map(([name, scenario]) => [`${group}: ${name}`, scenario] as const)
  return Object.fromEntries(
    named.filter(([name]) => positionals.length === 0 || positionals.some((part) => name.includes(part))),
  )
}

function report(name: string, faults: readonly string[], summary: string): void {
  console.log(`${faults.length === 0 ? 'passed' : 'FAILED'}: ${name}: ${summary}.`)
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) failed += 1
}

function listed(failures: [status: string, count: number][]): string {
  return failures.map(([status, count]) => `${count} × ${status}`).join(', ') || 'all responses were 200'
}

/**
 * Runs something in a folder, then ends what it has started and removes the folder.
 * @param diskMb mounts a disk of that size as the folder
 * @throws Error where mounting is not allowed: filling the real disk would harm the machine
 */
async function withFolder(diskMb: number | undefined, run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  cleanUp.add(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))
  try {
    if (diskMb) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m,mode=700`, 'tmpfs', folder])
      cleanUp.add(() => execFileSync('umount', ['--lazy', folder]))
    }
    await run(folder)
  } finally {
    await cleanUp.run()
  }
}
