import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from '../kit/serverProcess.ts'
import { sendRequest } from './httpRequest.ts'
import { comparableBody, startEventLoad, startReadLoad } from './load.ts'
import { readPaths } from './loadAccount.ts'
import type { Instance, Servers } from './servers.ts'
import { compareStoredEvents } from './storedEvents.ts'

interface ServerFault {
  inject(servers: Servers): Promise<void>
  /** Instances that may respond other than 200; all others must not be affected. */
  affects(servers: Servers): readonly Instance[]
}

const outageMs = 2_000
/** Longer than the request timeouts of ClickHouse and Postgres. */
const longOutageMs = 23_000

const both = ({ one, other }: Servers) => [one, other]

const processes = {
  ClickHouse: { processOf: ({ clickhouse }: Servers) => clickhouse, affects: both },
  Postgres: { processOf: ({ postgres }: Servers) => postgres, affects: both },
  // The instance with RATE_LIMIT_WITHOUT_REDIS=open counts by itself and is not affected.
  Redis: { processOf: ({ redis }: Servers) => redis, affects: ({ other }: Servers) => [other] },
  'One instance': { processOf: ({ one }: Servers) => one, affects: ({ one }: Servers) => [one] },
}

/** How a process fails, and how it returns. */
const failures = {
  'is stopped and restarted': ['stop', 'start'],
  'is killed and restarted': ['kill', 'start'],
  'hangs and continues': ['pause', 'resume'],
} as const satisfies Record<string, readonly (keyof ServerProcess)[]>

export const serverFaults: Record<string, ServerFault> = {
  ...Object.fromEntries(
    Object.entries(processes).flatMap(([name, { processOf, affects }]) =>
      Object.entries(failures).map(([failure, [fail, recover]]) => {
        const inject = async (servers: Servers) => {
          await processOf(servers)[fail]()
          await sleep(outageMs)
          await processOf(servers)[recover]()
        }
        return [`${name} ${failure}`, { affects, inject }]
      }),
    ),
  ),
  'Both stores hang for 23 s and continue': {
    affects: both,
    async inject({ clickhouse, postgres }) {
      for (const process of [clickhouse, postgres]) process.pause()
      await sleep(longOutageMs)
      for (const process of [clickhouse, postgres]) process.resume()
    },
  },
  'All processes are killed at once and restarted': {
    affects: both,
    async inject({ clickhouse, postgres, redis, one, other }) {
      const all = [one, other, clickhouse, postgres, redis]
      await Promise.all(all.map((process) => process.kill()))
      await sleep(outageMs)
      // Instances first: at start they wait for their stores.
      await Promise.all(all.map((process) => process.start()))
    },
  },
  'The disk of ClickHouse is full': {
    affects: both,
    async inject({ fillClickHouseDisk }) {
      const freeDisk = await fillClickHouseDisk()
      await sleep(2 * outageMs)
      await freeDisk()
    },
  },
  'The clock of one instance is ten minutes ahead, then ten behind, then right': {
    affects: () => [],
    async inject({ other }) {
      for (const seconds of [600, -600, 0]) {
        await other.skewClock(seconds)
        await sleep(outageMs)
      }
    },
  },
}

/** Within this time after a fault has ended, all responses are 200 again. */
const recoveryMaxMs = 10_000
/** Recovered means: no failure for `stableMs`, and at least `stableResponses` responses of 200 in that time. */
const stableMs = 1_000
const stableResponses = 60

interface Outcome {
  name: string
  /** What broke a promise; empty when nothing did. */
  faults: string[]
  /** From the end of the fault to the last failed response; 0 when none failed. */
  recoveryMs: number
  failures: Record<string, number>
}

/**
 * Injects faults one after the other while one load of events and reads continues from the first to the last.
 * @returns the differences between acknowledged and stored events, and the totals of the load
 */
export async function runServerFaults(
  servers: Servers,
  selected: Record<string, ServerFault>,
  report: (outcome: Outcome) => void,
): Promise<{ faults: string[]; events: number; reads: number }> {
  const { one, other, key } = servers
  const failures: { atMs: number; port: number; status: string; body: string }[] = []
  const options = {
    targets: [one, other],
    key,
    onFailure: (port: number, status: string, body: string) =>
      void failures.push({ atMs: performance.now(), port, status, body }),
  }
  const expected = await expectedBodies(servers)
  const load = startEventLoad({ ...options, connections: 24 })
  const batches = startEventLoad({ ...options, connections: 4, batchSize: 50 })
  const reads = startReadLoad({ ...options, connections: 10 }, expected)
  const loads = [load, batches, reads]
  await waitUntilStable()
  for (const [name, fault] of Object.entries(selected)) {
    const failuresBefore = failures.length
    const faultsBefore = loads.map(({ faults }) => faults.length)
    const found: string[] = []
    await fault.inject(servers).catch((error: Error) => found.push(error.message))
    const endedMs = performance.now()
    const isStable = await waitUntilStable(endedMs + recoveryMaxMs + stableMs)
    const caused = failures.slice(failuresBefore)
    const recoveryMs = Math.round(Math.max(0, (caused.at(-1)?.atMs ?? 0) - endedMs))
    if (!isStable || recoveryMs > recoveryMaxMs) found.push(`Not recovered within ${recoveryMaxMs} ms.`)
    const affectedPorts = new Set(fault.affects(servers).map(({ port }) => port))
    const counts: Record<string, number> = {}
    for (const { port, status, body } of caused) {
      counts[status] = (counts[status] ?? 0) + 1
      if (!affectedPorts.has(port)) found.push(`An instance that must not be affected responded ${status}: ${body}`)
    }
    found.push(...loads.flatMap(({ faults }, index) => faults.slice(faultsBefore[index])))
    report({ name, faults: found, recoveryMs, failures: counts })
  }
  await Promise.all(loads.map((one) => one.finish()))
  return {
    faults: await compareStoredEvents(servers.stores, [load, batches]),
    events: load.acknowledged.size + batches.acknowledged.size,
    reads: reads.correct(),
  }

  async function waitUntilStable(deadlineMs = performance.now() + 60_000): Promise<boolean> {
    const succeeded = () => load.acknowledged.size + reads.correct()
    let since = { atMs: performance.now(), succeeded: succeeded(), failed: failures.length }
    while (performance.now() < deadlineMs) {
      await sleep(50)
      if (failures.length > since.failed)
        since = { atMs: performance.now(), succeeded: succeeded(), failed: failures.length }
      const isEnough = succeeded() >= since.succeeded + stableResponses
      if (isEnough && performance.now() - since.atMs >= stableMs) return true
    }
    return false
  }
}

/** @returns the response body of each path without faults. @throws Error when the two instances differ */
async function expectedBodies({ one, other, key }: Servers): Promise<Map<string, string>> {
  const agent = new Agent()
  const expected = new Map<string, string>()
  for (const path of readPaths) {
    const responses = []
    for (const target of [one, other]) responses.push(await sendRequest(agent, target, { method: 'GET', path, key }))
    const [first, second] = responses.map((response) => response?.status === 200 && comparableBody(response.body))
    if (!first || first !== second) throw new Error(`${path}: ${responses.map((each) => each?.body).join(' or ')}`)
    expected.set(path, first)
  }
  agent.destroy()
  return expected
}
