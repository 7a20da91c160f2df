import { changes } from './changes.ts'
import { withCrashAccount } from './crashAccount.ts'
import { type CrashStores, withCrashStores } from './crashStores.ts'
import { openDisk } from './disk.ts'
import { eventPauseSteps, pauseImport, pauseServer, pauseSteps } from './pauses.ts'
import { cutPower } from './powerCuts.ts'
import type { FileCall } from './syscallKiller.ts'
import { runTrials, type TrialName, trials } from './trials.ts'
import { verbScenarios } from './verbScenarios.ts'

/** One kind of crash. @returns the faults found, and a summary of what was done */
type CrashScenario = () => Promise<{ faults: string[]; summary: string }>

/** How long a process is paused: longer than a lease (10 s) and than a request timeout of a store (20 s). */
const pauseMs = 25_000

/** Which stores are opened, and which of their processes are killed. */
interface Target {
  /** Begins the names of its scenarios. */
  name: string
  isCluster: boolean
  victimsOf(stores: CrashStores): Parameters<typeof runTrials>[2]['victims']
}

const clickHouse: Target = { name: 'ClickHouse', isCluster: false, victimsOf: ({ nodes }) => nodes }
const postgres: Target = { name: 'Postgres', isCluster: false, victimsOf: ({ postgres }) => [postgres] }
/** A write uses the node of its row's shard, so about half of the writes are hit. */
const nodeOfTwo: Target = { ...clickHouse, name: 'Either node of two', isCluster: true }

/** The processes that are killed, the call before which they are, and how often at each such call of a write. */
const sweeps: readonly [Target, FileCall, Partial<Record<TrialName, number>>][] = [
  [clickHouse, 'rename', { click: 24, conversion: 12, 'changed conversion': 12, event: 24, 'pixel event': 12 }],
  [clickHouse, 'write', { click: 1, 'changed conversion': 1, event: 1 }],
  [clickHouse, 'fdatasync', { click: 2, event: 2 }],
  [postgres, 'fsync', { campaign: 12, click: 4, 'changed conversion': 4 }],
  [postgres, 'pwrite64', { campaign: 4 }],
  [nodeOfTwo, 'rename', { click: 24, conversion: 24, 'changed conversion': 24, event: 24, 'pixel event': 24 }],
  [nodeOfTwo, 'write', { click: 2, event: 2 }],
]

/** Each scenario opens its own stores, so that several can run concurrently. */
export const crashScenarios: Record<string, CrashScenario> = {
  ...Object.fromEntries(
    sweeps.flatMap(([target, call, repetitions]) =>
      (Object.keys(repetitions) as TrialName[]).map((name) => [
        `${target.name} is killed at each ${call === 'pwrite64' ? 'write' : call} of ${name === 'event' ? 'an' : 'a'} ${name}`,
        () => runKills(target, call, name, repetitions[name] ?? 0),
      ]),
    ),
  ),

  ...verbScenarios,

  'An import is paused for 25 s at each step': () =>
    withCrashStores({}, async (stores) => {
      const steps = Object.entries(pauseSteps).flatMap(([name, step]) =>
        (['clicks', 'approvals'] as const).map((change) =>
          withCrashAccount(stores, async (account) => {
            if (change === 'approvals') await account.import(changes.clicks([0, 1]))
            if (change === 'approvals') await account.import(changes.conversions([0, 1]))
            const faults = await pauseImport(stores, account, changes[change]([0, 1]), step, pauseMs)
            return [...faults, ...(await account.differences())].map((line) => `${change}, ${name}: ${line}`)
          }),
        ),
      )
      return { faults: (await Promise.all(steps)).flat(), summary: `${steps.length} imports paused` }
    }),

  'A server is paused for 25 s at each step of an event': () =>
    withCrashStores({}, (stores) =>
      withCrashAccount(stores, async (account) => {
        await account.import(changes.clicks([0]))
        const faults = await pauseServer(stores, account, 0, eventPauseSteps, pauseMs)
        faults.push(...(await account.differences()))
        return { faults, summary: `paused ${Object.keys(eventPauseSteps).length} times` }
      }),
    ),

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

function runKills({ isCluster, victimsOf }: Target, call: FileCall, name: TrialName, repetitions: number) {
  return withCrashStores({ isCluster }, async (stores) => {
    const { faults, kills } = await runTrials(stores, trials[name], { call, repetitions, victims: victimsOf(stores) })
    const killed = [...kills.values()].reduce((a, b) => a + b, 0)
    if (killed === 0) faults.push('No process was killed.')
    const steps = [...kills].map(([step, count]) => `${count} × ${step}`).join(', ')
    return { faults, summary: `${killed} kills: ${steps}` }
  })
}
