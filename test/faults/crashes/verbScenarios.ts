import { type CrashStores, withCrashStores } from './crashStores.ts'
import type { FileCall } from './syscallKiller.ts'
import { killAtStatements, killCommandAtCalls, killStoresAtCalls, type VerbKills } from './verbKills.ts'
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
  const statements = {
    'the command is killed at each statement': on(false, (stores) => killAtStatements(stores, verb, 'command')),
    'Postgres is killed at each of its statements': on(false, (stores) => killAtStatements(stores, verb, 'postgres')),
  }
  if (verbsOfPostgres.has(name)) {
    return {
      ...statements,
      'Postgres is killed at each fsync': on(false, (stores) =>
        killStoresAtCalls(stores, verb, 'fsync', [stores.postgres]),
      ),
    }
  }
  return {
    ...statements,
    'ClickHouse is killed at each of its statements': on(false, (stores) => killAtStatements(stores, verb, 0)),
    'on two nodes the command is killed at each statement': on(true, (stores) =>
      killAtStatements(stores, verb, 'command'),
    ),
    ...nodeScenarios(name),
    ...(name === 'account export' ? fileScenarios(name) : renameScenarios(name)),
  }
}

function renameScenarios(name: VerbName): Record<string, VerbScenario> {
  const kill = (stores: CrashStores) => killStoresAtCalls(stores, verbs[name], 'rename', stores.nodes)
  return {
    'ClickHouse is killed at each rename': on(false, kill),
    'either node of two is killed at each rename': on(true, kill),
  }
}

function fileScenarios(name: VerbName): Record<string, VerbScenario> {
  const kill = (stores: CrashStores) => killCommandAtCalls(stores, verbs[name], callsOfCommand)
  return { 'the command is killed at each change of a file': on(false, kill) }
}

/** The nodes that receive statements of a command: an export reads all rows through the first node. */
function nodeScenarios(name: VerbName): Record<string, VerbScenario> {
  const nodes = name === 'account export' ? (['first'] as const) : (['first', 'second'] as const)
  return Object.fromEntries(
    nodes.map((which, index) => [
      `the ${which} node of two is killed at each of its statements`,
      on(true, (stores) => killAtStatements(stores, verbs[name], index)),
    ]),
  )
}

function on(isCluster: boolean, kill: (stores: CrashStores) => Promise<VerbKills>): VerbScenario {
  return () =>
    withCrashStores({ isCluster }, async (stores) => {
      const { faults, killed, trials, moments } = await kill(stores)
      if (killed === 0) faults.push('Nothing was killed.')
      return { faults, summary: `${killed} of ${trials} killed, at ${moments} moments` }
    })
}
