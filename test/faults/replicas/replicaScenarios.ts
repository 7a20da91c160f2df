import { type SeedScenario, seedScenario } from '../feed/feedScenarios.ts'
import { runReplicaOutages } from './replicaRuns.ts'

const one = { replicatedShards: 1 }
const enginesByRest = [one, one, one, { replicatedShards: 2 }]

export const replicaScenarios: Record<string, SeedScenario> = {
  'random outages under events, imports and a feed': seedScenario(enginesByRest, 2, runReplicaOutages),
}
