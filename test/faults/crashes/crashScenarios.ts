import { changes } from './changes.ts'
import { CrashAccount } from './crashAccount.ts'
import { type CrashStores, openCrashStores } from './crashStores.ts'
import { openDisk } from './disk.ts'
import { pauseImport, pauseSteps } from './pauses.ts'
import { cutPower } from './powerCuts.ts'
import { eventPauseSteps, pauseServer } from './serverPauses.ts'
import type { FileCall } from './syscallKiller.ts'
import { runTrials, type TrialName, trials } from './trials.ts'

/** One way of crashing. @returns what was wrong, and what happened */
type CrashScenario = () => Promise<{ faults: string[]; figures: string }>

/** For how long a process is stopped: a lease expires after 10 s, a request to a store is given up after 20. */
const pauseMs = 25_000

/** Each on stores of its own, so that several can run at a time. */
export const crashScenarios: Record<string, CrashScenario> = {
  'ClickHouse is killed at each rename of a click': () => kills('click', 'rename', 24),
  'ClickHouse is killed at each rename of a conversion': () => kills('conversion', 'rename', 12),
  'ClickHouse is killed at each rename of a changed conversion': () => kills('changed conversion', 'rename', 12),
  'ClickHouse is killed at each rename of an event': () => kills('event', 'rename', 24),
  'ClickHouse is killed at each rename of a pixel event': () => kills('pixel event', 'rename', 12),
  'ClickHouse is killed at each write of a click': () => kills('click', 'write', 1),
  'ClickHouse is killed at each write of a changed conversion': () => kills('changed conversion', 'write', 1),
  'ClickHouse is killed at each write of an event': () => kills('event', 'write', 1),
  'ClickHouse is killed at each fdatasync of a click': () => kills('click', 'fdatasync', 2),
  'ClickHouse is killed at each fdatasync of an event': () => kills('event', 'fdatasync', 2),
  'Postgres is killed at each fsync of a campaign': () => kills('campaign', 'fsync', 12, killPostgres),
  'Postgres is killed at each write of a campaign': () => kills('campaign', 'pwrite64', 4, killPostgres),
  'Postgres is killed at each fsync of a click': () => kills('click', 'fsync', 4, killPostgres),
  'Postgres is killed at each fsync of a changed conversion': () =>
    kills('changed conversion', 'fsync', 4, killPostgres),
  'Either node of two is killed at each rename of a click': () => kills('click', 'rename', 12, killNodeOfTwo),
  'Either node of two is killed at each rename of a conversion': () => kills('conversion', 'rename', 12, killNodeOfTwo),
  'Either node of two is killed at each rename of a changed conversion': () =>
    kills('changed conversion', 'rename', 12, killNodeOfTwo),
  'Either node of two is killed at each rename of an event': () => kills('event', 'rename', 12, killNodeOfTwo),

  'An import is stopped for 25 s at each step': () =>
    onStores({}, async (stores) => {
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
      return { faults: (await Promise.all(steps)).flat(), figures: `${steps.length} imports were stopped` }
    }),

  'A server is stopped for 25 s at each step of an event': () =>
    onStores({}, async (stores) => {
      const account = await CrashAccount.open(stores)
      try {
        await account.import(changes.clicks([0]))
        const faults = await pauseServer(stores, account, 0, eventPauseSteps, pauseMs)
        faults.push(...(await account.differences()))
        return { faults, figures: `stopped ${Object.keys(eventPauseSteps).length} times` }
      } finally {
        await account.close()
      }
    }),

  async 'The power fails after each kind of write'() {
    const disk = await openDisk()
    if (!disk) return { faults: ['A disk can not be mounted here.'], figures: 'nothing was tried' }
    try {
      return { faults: await cutPower(disk, trials), figures: `${Object.keys(trials).length} cuts` }
    } finally {
      await disk.close()
    }
  },
}

/** Which stores are opened, and what of them is killed. */
interface Target {
  isCluster?: boolean
  victimsOf(stores: CrashStores): Parameters<typeof runTrials>[2]['victims']
}

const killClickHouse: Target = { victimsOf: ({ nodes }) => nodes }
const killPostgres: Target = { victimsOf: ({ postgres }) => [postgres] }
/** A write concerns the node that its row belongs to, so about half of the writes at an instant are hit. */
const killNodeOfTwo: Target = { ...killClickHouse, isCluster: true }

function kills(name: TrialName, call: FileCall, times: number, target = killClickHouse) {
  return onStores({ isCluster: target.isCluster ?? false }, async (stores) => {
    const sweep = { call, times, victims: target.victimsOf(stores) }
    const { faults, deaths } = await runTrials(stores, trials[name], sweep)
    const died = [...deaths.values()].reduce((a, b) => a + b, 0)
    if (died === 0) faults.push('Nothing died.')
    const steps = [...deaths].map(([step, count]) => `${count} × ${step}`).join(', ')
    return { faults, figures: `${died} deaths: ${steps}` }
  })
}

async function onStores<Result>(
  options: Parameters<typeof openCrashStores>[0],
  run: (stores: CrashStores) => Promise<Result>,
): Promise<Result> {
  const stores = await openCrashStores(options)
  try {
    return await run(stores)
  } finally {
    await stores.close()
  }
}
