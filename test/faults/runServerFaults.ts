import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventLoad, type OnFailure } from './eventLoad.ts'
import { sendRequest } from './httpRequest.ts'
import { readPaths } from './loadAccount.ts'
import { comparableBody, ReadLoad } from './readLoad.ts'
import type { ServerFault } from './serverFaults.ts'
import type { Servers } from './servers.ts'
import { compareStoredEvents } from './storedEvents.ts'

/** Within this time after a fault has ended, all responses are 200 again. */
const recoveryMaxMs = 10_000
/** Recovered means: no failure for `stableMs`, and at least `stableResponses` responses of 200 in that time. */
const stableMs = 1_000
const stableResponses = 60

const eventConnections = 24
const batchConnections = 4
const batchSize = 50
const readConnections = 10

/** Result of one fault. */
export interface Outcome {
  name: string
  /** What broke a promise; empty when nothing did. */
  faults: string[]
  /** From the end of the fault to the last failed response; 0 when none failed. */
  recoveryMs: number
  /** Number of failed responses by status. */
  failures: Record<string, number>
}

/**
 * Injects faults one after the other while one load of events and reads continues from the first to the last.
 * @returns the differences between acknowledged and stored events, and the totals of the load
 */
export async function runServerFaults(
  servers: Servers,
  serverFaults: Record<string, ServerFault>,
  report: (outcome: Outcome) => void,
): Promise<{ faults: string[]; events: number; reads: number }> {
  const { one, other, key } = servers
  const failures: { atMs: number; port: number; status: string; body: string }[] = []
  const onFailure: OnFailure = (port, status, body) => failures.push({ atMs: performance.now(), port, status, body })
  const expected = await expectedBodies(servers)
  const load = new EventLoad([one, other], key, eventConnections, { onFailure })
  const batches = new EventLoad([one, other], key, batchConnections, { onFailure, batchSize })
  const reads = new ReadLoad([one, other], key, expected, readConnections, onFailure)
  const loads = [load, batches, reads]
  await waitUntilStable()
  for (const [name, fault] of Object.entries(serverFaults)) {
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
    reads: reads.correct,
  }

  /** @returns false when the deadline passed first */
  async function waitUntilStable(deadlineMs = performance.now() + 60_000): Promise<boolean> {
    let sinceMs = performance.now()
    let succeeded = load.acknowledged.size + reads.correct
    let seen = failures.length
    while (performance.now() < deadlineMs) {
      await sleep(50)
      if (failures.length > seen) {
        seen = failures.length
        sinceMs = performance.now()
        succeeded = load.acknowledged.size + reads.correct
      }
      const isEnough = load.acknowledged.size + reads.correct >= succeeded + stableResponses
      if (isEnough && performance.now() - sinceMs >= stableMs) return true
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
