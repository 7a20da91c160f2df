import { type CrashStores, withCrashStores } from './crashStores.ts'
import type { FileCall } from './syscallKiller.ts'
import {
  killAtStatements,
  killCommandAtCalls,
  killStoresAtCalls,
  type VerbKills,
  type VerbVictim,
} from './verbKills.ts'
import { type VerbName, verbs } from './verbs.ts'

/** Commands that change only Postgres. */
const verbsOfPostgres: ReadonlySet<VerbName> = new Set([
  ...(['account create', 'account set-plan', 'plan set', 'retention set'] as const),
  ...(['key create', 'key rotate', 'key revoke'] as const),
])
/** Calls by which a command changes files. */
const callsOfCommand: readonly FileCall[] = ['mkdir', 'fsync', 'rename', 'unlink', 'rmdir']

type VerbScenario = () => Promise<{ faults: string[]; summary: string }>

/** The scenarios of each command that changes something, by name. */
export const verbScenarios: Record<string, VerbScenario> = Object.fromEntries(
  (Object.keys(verbs) as VerbName[]).flatMap((name) =>
    Object.entries(scenariosOf(name)).map(([what, scenario]) => [`${name}: ${what}`, scenario]),
  ),
)

function scenariosOf(name: VerbName): Record<string, VerbScenario> {
  const verb = verbs[name]
  const atStatements = (isCluster: boolean, victim: VerbVictim) =>
    on(isCluster, (stores) => killAtStatements(stores, verb, victim))
  const atRenames = (isCluster: boolean) =>
    on(isCluster, (stores) => killStoresAtCalls(stores, verb, 'rename', stores.nodes))
  const ofAll = {
    'the command is killed at each statement': atStatements(false, 'command'),
    'Postgres is killed at each of its statements': atStatements(false, 'postgres'),
  }
  if (verbsOfPostgres.has(name)) {
    const atFsyncs = on(false, (stores) => killStoresAtCalls(stores, verb, 'fsync', [stores.postgres]))
    return { ...ofAll, 'Postgres is killed at each fsync': atFsyncs }
  }
  const ofBothStores = {
    ...ofAll,
    'ClickHouse is killed at each of its statements': atStatements(false, 0),
    'on two nodes the command is killed at each statement': atStatements(true, 'command'),
    'the first node of two is killed at each of its statements': atStatements(true, 0),
  }
  if (name === 'account export') {
    // It reads all rows through the first node.
    const atFileCalls = on(false, (stores) => killCommandAtCalls(stores, verb, callsOfCommand))
    return { ...ofBothStores, 'the command is killed at each change of a file': atFileCalls }
  }
  return {
    ...ofBothStores,
    'the second node of two is killed at each of its statements': atStatements(true, 1),
    'ClickHouse is killed at each rename': atRenames(false),
    'either node of two is killed at each rename': atRenames(true),
  }
}

function on(isCluster: boolean, kill: (stores: CrashStores) => Promise<VerbKills>): VerbScenario {
  return () =>
    withCrashStores({ isCluster }, async (stores) => {
      const { faults, killed, trials, moments } = await kill(stores)
      if (killed === 0) faults.push('Nothing was killed.')
      return { faults, summary: `${killed} of ${trials} killed, at ${moments} moments` }
    })
}
