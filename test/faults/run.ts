// Makes the API and its stores fail under load, and looks whether every answer of 200 was right, whether every event that
// was answered 200 is stored exactly once, and so is every one that had to be sent again, and whether all is well again
// by itself within seconds. First on servers, as in production, then on the embedded engines.
//   npm run faults [-- part of a fault's name, which begins with "Servers: ", "Embedded: " or "Crashes: "] [--runs 10]
// It needs Debian's postgresql-15, redis-server, faketime and strace, and the right to mount a small disk.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crashScenarios } from './crashes/crashScenarios.ts'
import { openBed } from './processes.ts'
import { scenarios } from './scenarios.ts'
import { serverFaults } from './serverFaults.ts'
import { openServers } from './servers.ts'
import { runFaults } from './underLoad.ts'

const effort = { connections: 64, times: 3, awayMs: 20_000 }
/** Room for both engines and what is stored before it is filled up. */
const smallDiskMb = 600
/** Room for what ClickHouse stores through all faults of servers, merged parts that it has not removed yet included. */
const serverDiskMb = 2_000

/** Crash scenarios that run at a time: most of their time they wait for an engine to start. */
const crashesAtOnce = 3

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '1' } },
})
const wanted = positionals[0] ?? ''
let failed = 0
for (let run = 1; run <= Number(values.runs); run++) {
  if (values.runs !== '1') console.log(`Run ${run} of ${values.runs}`)
  await runEmbeddedAndServers()
  await runCrashes()
}
// Callers of a load that came to no end would go on.
process.exit(failed === 0 ? 0 : 1)

async function runEmbeddedAndServers(): Promise<void> {
  const onServers = ofName('Servers', serverFaults)
  if (Object.keys(onServers).length > 0) {
    await withFolder(serverDiskMb, async (folder) => {
      const servers = await openServers(folder)
      try {
        const { faults, events, reads } = await runFaults(
          servers,
          onServers,
          ({ name, faults, recoveryMs, others }) => {
            const seconds = (recoveryMs / 1000).toFixed(1)
            say(name, faults, `well again after ${seconds} s; ${listed(Object.entries(others))}`)
          },
        )
        say('Servers: all of these together', faults, `${events} events stored once, ${reads} reads right`)
      } finally {
        await servers.close()
      }
    })
  }
  for (const [name, scenario] of Object.entries(ofName('Embedded', scenarios))) {
    await withFolder(name.includes('disk') ? smallDiskMb : undefined, async (folder) => {
      const bed = await openBed(folder)
      try {
        const { load, faults = [] } = await scenario(bed, effort, folder)
        const all = [...faults, ...(await bed.reckon(load))]
        say(name, all, `${load.answered.size} events stored once; ${listed([...load.others])}`)
      } catch (error) {
        const engines = await readFile(join(folder, 'embedded.log'), 'utf8')
        say(name, [(error as Error).message, ...engines.trim().split('\n').slice(-15)], 'it came to no end')
      } finally {
        await bed.close()
      }
    })
  }
}

async function runCrashes(): Promise<void> {
  const queue = Object.entries(ofName('Crashes', crashScenarios))
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [name, scenario] = next
      const startedMs = performance.now()
      const { faults, figures } = await scenario().catch((error: Error) => ({
        faults: [error.stack ?? error.message],
        figures: 'it came to no end',
      }))
      say(name, faults, `${figures}; ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
    }
  }
  await Promise.all(Array.from({ length: crashesAtOnce }, work))
}

/** Faults by the name that they are shown and chosen by. */
function ofName<Fault>(where: string, all: Record<string, Fault>): Record<string, Fault> {
  const named = Object.entries(all).map(([name, fault]) => [`${where}: ${name}`, fault] as const)
  return Object.fromEntries(named.filter(([name]) => name.includes(wanted)))
}

function say(name: string, faults: readonly string[], figures: string): void {
  console.log(`${faults.length === 0 ? 'held' : 'FAILED'}: ${name}: ${figures}.`)
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) failed += 1
}

function listed(others: [status: string, count: number][]): string {
  return others.map(([status, count]) => `${count} × ${status}`).join(', ') || 'no other answer than 200'
}

/**
 * @param diskMb puts a disk of that size there
 * @throws Error where mounting is not allowed: a full disk would be the real one
 */
async function withFolder(diskMb: number | undefined, run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  if (diskMb) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', folder])
  try {
    await run(folder)
  } finally {
    if (diskMb) execFileSync('umount', ['--lazy', folder])
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}
