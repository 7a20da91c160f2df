import { changes } from './changes.ts'
import { CrashAccount } from './crashAccount.ts'
import { type CrashStores, withCrashStores } from './crashStores.ts'
import { openDisk } from './disk.ts'
import { pauseImport, pauseSteps } from './pauses.ts'
import { cutPower } from './powerCuts.ts'
import { eventPauseSteps, pauseServer } from './serverPauses.ts'
import type { FileCall } from './syscallKiller.ts'
import { runTrials, type TrialName, trials } from './trials.ts'
import { verbScenarios } from './verbScenarios.ts'

/** One kind of crash. @returns the faults found, and a summary of what was done */
type CrashScenario = () => Promise<{ faults: string[]; summary: string }>

/** How long a process is paused: longer than a lease (10 s) and than a request timeout of a store (20 s). */
const pauseMs = 25_000

/** Each scenario opens its own stores, so that several can run concurrently. */
export const crashScenarios: Record<string, CrashScenario> = {
  'ClickHouse is killed at each rename of a click': () => runKills('click', 'rename', 24),
  'ClickHouse is killed at each rename of a conversion': () => runKills('conversion', 'rename', 12),
  'ClickHouse is killed at each rename of a changed conversion': () => runKills('changed conversion', 'rename', 12),
  'ClickHouse is killed at each rename of an event': () => runKills('event', 'rename', 24),
  'ClickHouse is killed at each rename of a pixel event': () => runKills('pixel event', 'rename', 12),
  'ClickHouse is killed at each write of a click': () => runKills('click', 'write', 1),
  'ClickHouse is killed at each write of a changed conversion': () => runKills('changed conversion', 'write', 1),
  'ClickHouse is killed at each write of an event': () => runKills('event', 'write', 1),
  'ClickHouse is killed at each fdatasync of a click': () => runKills('click', 'fdatasync', 2),
  'ClickHouse is killed at each fdatasync of an event': () => runKills('event', 'fdatasync', 2),
  'Postgres is killed at each fsync of a campaign': () => runKills('campaign', 'fsync', 12, killPostgres),
  'Postgres is killed at each write of a campaign': () => runKills('campaign', 'pwrite64', 4, killPostgres),
  'Postgres is killed at each fsync of a click': () => runKills('click', 'fsync', 4, killPostgres),
  'Postgres is killed at each fsync of a changed conversion': () =>
    runKills('changed conversion', 'fsync', 4, killPostgres),
  'Either node of two is killed at each rename of a click': () => runKills('click', 'rename', 24, killNodeOfTwo),
  'Either node of two is killed at each rename of a conversion': () =>
    runKills('conversion', 'rename', 24, killNodeOfTwo),
  'Either node of two is killed at each rename of a changed conversion': () =>
    runKills('changed conversion', 'rename', 24, killNodeOfTwo),
  'Either node of two is killed at each rename of an event': () => runKills('event', 'rename', 24, killNodeOfTwo),
  'Either node of two is killed at each rename of a pixel event': () =>
    runKills('pixel event', 'rename', 24, killNodeOfTwo),
  'Either node of two is killed at each write of a click': () => runKills('click', 'write', 2, killNodeOfTwo),
  'Either node of two is killed at each write of an event': () => runKills('event', 'write', 2, killNodeOfTwo),

  ...verbScenarios,

  'An import is paused for 25 s at each step': () =>
    withCrashStores({}, async (stores) => {
      const steps = Object.entries(pauseSteps).flatMap(([name, step]) =>
        (['clicks', 'approvals'] as const).map(async (change) => {
          const account = await CrashAccount.open(stores)
          try {
            if (change === 'approvals') await account.import(changes.clicks([0, 1]))
            if (change === 'approvals') await account.import(changes.conversions([0, 1]))
            const faults = await pauseImport(stores, account, changes[change]([0, 1]), step, pauseMs)
            return [...faults, ...(await account.differences())].map((line) => `${change}, ${name}: ${line}`)
          } finally {
            await account.close()
          }
        }),
      )
      return { faults: (await Promise.all(steps)).flat(), summary: `${steps.length} imports paused` }
    }),

  'A server is paused for 25 s at each step of an event': () =>
    withCrashStores({}, async (stores) => {
      const account = await CrashAccount.open(stores)
      try {
        await account.import(changes.clicks([0]))
        const faults = await pauseServer(stores, account, 0, eventPauseSteps, pauseMs)
        faults.push(...(await account.differences()))
        return { faults, summary: `paused ${Object.keys(eventPauseSteps).length} times` }
      } finally {
        await account.close()
      }
    }),

  async 'The power fails after each kind of write'() {
    const disk = await openDisk()
    if (!disk) return { faults: ['Mounting a disk is not allowed here.'], summary: 'nothing was run' }
    try {
      return { faults: await cutPower(disk, trials), summary: `${Object.keys(trials).length} power cuts` }
    } finally {
      await disk.close()
    }
  },
}

/** Which stores are opened, and which of their processes are killed. */
interface Target {
  isCluster?: boolean
  victimsOf(stores: CrashStores): Parameters<typeof runTrials>[2]['victims']
}

const killClickHouse: Target = { victimsOf: ({ nodes }) => nodes }
const killPostgres: Target = { victimsOf: ({ postgres }) => [postgres] }
/** A write uses the node of its row's shard, so about half of the writes are hit. */
const killNodeOfTwo: Target = { ...killClickHouse, isCluster: true }

function runKills(name: TrialName, call: FileCall, repetitions: number, target = killClickHouse) {
  return withCrashStores({ isCluster: target.isCluster ?? false }, async (stores) => {
    const sweep = { call, repetitions, victims: target.victimsOf(stores) }
    const { faults, kills } = await runTrials(stores, trials[name], sweep)
    const killed = [...kills.values()].reduce((a, b) => a + b, 0)
    if (killed === 0) faults.push('No process was killed.')
    const steps = [...kills].map(([step, count]) => `${count} × ${step}`).join(', ')
    return { faults, summary: `${killed} kills: ${steps}` }
  })
}
