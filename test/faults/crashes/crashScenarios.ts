import { openCrashAccount } from './crashAccount.ts'
import {
  type CrashStores,
  type CrashStoresOptions,
  inTurn,
  openCrashStores,
  type Victim,
  withOpened,
} from './crashStores.ts'
import { eventPauseSteps, pauseImport, pauseServer, pauseSteps } from './pauses.ts'
import { cutPower, openDisk } from './powerCuts.ts'
import type { FileCall } from './syscallKiller.ts'
import { runTrials, type TrialName, trials } from './trials.ts'
import {
  killAtStatements,
  killCommandAtCalls,
  killStoresAtCalls,
  type VerbKills,
  type VerbVictim,
} from './verbKills.ts'
import { type Verb, type VerbName, verbs } from './verbs.ts'

/** One kind of crash. @returns the faults found, and a summary of what was done */
type CrashScenario = () => Promise<{ faults: string[]; summary: string }>

/** How long a process is paused: longer than a lease (10 s) and than a request timeout of a store (20 s). */
const pauseMs = 25_000

/** Which stores are opened, and which of their processes are killed. */
interface Target {
  name: string
  options: CrashStoresOptions
  victimsOf(stores: CrashStores): Parameters<typeof runTrials>[2]['victims']
}

const clickHouse: Target = { name: 'ClickHouse', options: {}, victimsOf: ({ nodes }) => nodes }
const postgres: Target = { name: 'Postgres', options: {}, victimsOf: ({ postgres }) => [postgres] }
/** A write uses the node of its row's shard, so about half of the writes are hit. */
const nodeOfTwo: Target = { ...clickHouse, name: 'Either node of two', options: { isCluster: true } }
const replica: Target = {
  name: 'Either replica, or both in turn,',
  options: { replicatedShards: 1 },
  victimsOf: ({ nodes }) => [...nodes, inTurn(nodes)],
}

const writes = ['click', 'conversion', 'changed conversion', 'corrected cost', 'event', 'pixel event'] as const

/** The processes that are killed, the call before which they are, how often at each such call of a write, and the writes. */
const sweeps: readonly [Target, FileCall, repetitions: number, readonly TrialName[]][] = [
  [clickHouse, 'rename', 24, ['click', 'event']],
  [clickHouse, 'rename', 12, ['conversion', 'changed conversion', 'corrected cost', 'pixel event']],
  [clickHouse, 'write', 1, ['click', 'changed conversion', 'event']],
  [clickHouse, 'fdatasync', 2, ['click', 'event']],
  [postgres, 'fsync', 12, ['campaign']],
  [postgres, 'fsync', 4, ['click', 'changed conversion']],
  [postgres, 'pwrite64', 4, ['campaign']],
  [nodeOfTwo, 'rename', 24, writes],
  [nodeOfTwo, 'write', 2, ['click', 'event']],
  [replica, 'rename', 6, [...writes, 'batch of events']],
]

const verbsOfPostgres: ReadonlySet<string> = new Set<VerbName>([
  ...(['account create', 'account set-plan', 'plan set', 'retention set'] as const),
  ...(['key create', 'key rotate', 'key revoke'] as const),
])
const callsOfCommand: readonly FileCall[] = ['mkdir', 'fsync', 'rename', 'unlink', 'rmdir']

/** Each scenario opens its own stores, so that several can run concurrently. */
export const crashScenarios: Record<string, CrashScenario> = {
  ...Object.fromEntries(
    sweeps.flatMap(([target, call, repetitions, names]) =>
      names.map((name) => [
        `${target.name} is killed at each ${call === 'pwrite64' ? 'write' : call} of ${name === 'event' ? 'an' : 'a'} ${name}`,
        () => runKills(target, call, name, repetitions),
      ]),
    ),
  ),

  ...Object.fromEntries(
    Object.entries(verbs).flatMap(([name, verb]) =>
      Object.entries(scenariosOf(name, verb)).map(([what, scenario]) => [`${name}: ${what}`, scenario]),
    ),
  ),

  'An import is paused for 25 s at each step': () =>
    withOpened(openCrashStores({}), async (stores) => {
      const steps = Object.entries(pauseSteps).flatMap(([name, step]) =>
        (['clicks', 'approvals'] as const).map((change) =>
          withOpened(openCrashAccount(stores), async (account) => {
            if (change === 'approvals') await account.import('clicks', [0, 1])
            if (change === 'approvals') await account.import('conversions', [0, 1])
            const faults = await pauseImport(stores, account, change, step, pauseMs)
            return [...faults, ...(await account.differences())].map((line) => `${change}, ${name}: ${line}`)
          }),
        ),
      )
      return { faults: (await Promise.all(steps)).flat(), summary: `${steps.length} imports paused` }
    }),

  'A server is paused for 25 s at each step of an event': () =>
    withOpened(openCrashStores({}), async (stores) => ({
      faults: await pauseServer(stores, pauseMs),
      summary: `paused ${Object.keys(eventPauseSteps).length} times`,
    })),

  async 'The power fails after each kind of write'() {
    const disk = await openDisk()
    try {
      if (!disk.mounted) return { faults: ['Mounting a disk is not allowed here.'], summary: '' }
      const faults = await cutPower(disk, await openCrashStores({ folder: disk.folder }), trials)
      return { faults, summary: `${Object.keys(trials).length} power cuts` }
    } finally {
      await disk.close()
    }
  },
}

function runKills({ options, victimsOf }: Target, call: FileCall, name: TrialName, repetitions: number) {
  return withOpened(openCrashStores(options), async (stores) => {
    const sweep = { call, repetitions, every: 1, victims: victimsOf(stores) }
    const { faults, kills } = await runTrials(stores, trials[name], sweep)
    const killed = [...kills.values()].reduce((a, b) => a + b, 0)
    if (killed === 0) faults.push('No process was killed.')
    const steps = [...kills].map(([step, count]) => `${count} × ${step}`).join(', ')
    return { faults, summary: `${killed} kills: ${steps}` }
  })
}

/** The scenarios of a command that changes something, by what is killed. Two nodes receive all statements that one server receives. */
function scenariosOf(name: string, verb: Verb): Record<string, CrashScenario> {
  const isCluster = !verbsOfPostgres.has(name)
  const atStatements = (victim: VerbVictim) =>
    runVerbKills({ isCluster: isCluster && victim !== 'postgres' }, (stores) => killAtStatements(stores, verb, victim))
  const atCalls = (call: FileCall, victimsOf: (stores: CrashStores) => readonly Victim[]) =>
    runVerbKills({ isCluster }, (stores) => killStoresAtCalls(stores, verb, call, victimsOf(stores)))
  const ofAll = {
    'the command is killed at each statement': atStatements('command'),
    'Postgres is killed at each of its statements': atStatements('postgres'),
  }
  if (!isCluster)
    return { ...ofAll, 'Postgres is killed at each fsync': atCalls('fsync', ({ postgres }) => [postgres]) }
  const ofNodes = { ...ofAll, 'the first node is killed at each of its statements': atStatements(0) }
  if (name === 'account export') {
    // It reads all rows through the first node.
    const atFileCalls = runVerbKills({}, (stores) => killCommandAtCalls(stores, verb, callsOfCommand))
    return { ...ofNodes, 'the command is killed at each change of a file': atFileCalls }
  }
  const ofReplicas = ([0, 1] as const).map((victim) => {
    const kill = runVerbKills({ replicatedShards: 1 }, (stores) => killAtStatements(stores, verb, victim))
    return [`replica ${victim} is killed at each of its statements`, kill]
  })
  const ofRenames = {
    ...ofNodes,
    ...Object.fromEntries(ofReplicas),
    'either node is killed at each rename': atCalls('rename', ({ nodes }) => nodes),
  }
  // The first node inserts the rows of an import on the second one.
  if (name === 'import') return ofRenames
  return { ...ofRenames, 'the second node is killed at each of its statements': atStatements(1) }
}

function runVerbKills(options: Target['options'], kill: (stores: CrashStores) => Promise<VerbKills>): CrashScenario {
  return () =>
    withOpened(openCrashStores(options), async (stores) => {
      const { faults, killed, trials, moments } = await kill(stores)
      if (killed === 0) faults.push('Nothing was killed.')
      return { faults, summary: `${killed} of ${trials} killed, at ${moments} moments` }
    })
}
