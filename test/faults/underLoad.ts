import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPaths, reckon } from './fill.ts'
import { Load, type OnTrouble } from './load.ts'
import { ask } from './queries.ts'
import { bodyOf, Reads } from './reads.ts'
import type { ServerFault } from './serverFaults.ts'
import type { Servers } from './servers.ts'

/** After this long, without a hand, every answer is right again. */
const recoveryMaxMs = 10_000
/** Without trouble for so long, and with so many right answers in that time, it has recovered. */
const calmMs = 1_000
const calmAnswers = 60

const eventCallers = 24
const readCallers = 10

/** What a fault came to. */
export interface Outcome {
  name: string
  /** What must not be; empty when it held. */
  faults: string[]
  /** From the moment that all was in order again to the last answer that was not 200; 0 when there was none. */
  recoveryMs: number
  /** How often other answers than 200 came, by status. */
  others: Record<string, number>
}

/**
 * Lets faults happen one after the other under one load of events and reads, which goes on from the first to the last.
 * @returns what each came to, then what the stored events say about them all
 */
export async function runFaults(
  servers: Servers,
  faults: Record<string, ServerFault>,
  tell: (outcome: Outcome) => void,
): Promise<{ faults: string[]; events: number; reads: number }> {
  const { one, other, key } = servers
  const troubles: { atMs: number; port: number; status: string; body: string }[] = []
  const onTrouble: OnTrouble = (port, status, body) => troubles.push({ atMs: performance.now(), port, status, body })
  const expected = await expectedAnswers(servers)
  const load = new Load([one, other], key, eventCallers, onTrouble)
  const reads = new Reads([one, other], key, expected, readCallers, onTrouble)
  await calm()
  for (const [name, fault] of Object.entries(faults)) {
    const [before, faultsBefore] = [troubles.length, load.faults.length + reads.faults.length]
    const found: string[] = []
    await fault.happen(servers).catch((error: Error) => found.push(error.message))
    const inOrderMs = performance.now()
    const isCalm = await calm(inOrderMs + recoveryMaxMs + calmMs)
    const mine = troubles.slice(before)
    const recoveryMs = Math.round(Math.max(0, (mine.at(-1)?.atMs ?? 0) - inOrderMs))
    if (!isCalm || recoveryMs > recoveryMaxMs) found.push(`It has not recovered within ${recoveryMaxMs} ms.`)
    const allowed = new Set(fault.mayTrouble(servers).map(({ port }) => port))
    const others: Record<string, number> = {}
    for (const { port, status, body } of mine) {
      others[status] = (others[status] ?? 0) + 1
      if (!allowed.has(port)) found.push(`An instance that it did not concern answered ${status}: ${body}`)
    }
    found.push(...[...load.faults, ...reads.faults].slice(faultsBefore))
    tell({ name, faults: found, recoveryMs, others })
  }
  await Promise.all([load.finish(), reads.finish()])
  return {
    faults: await reckon(servers.stores, load),
    events: load.answered.size,
    reads: reads.right,
  }

  /** Waits until nothing has gone wrong for a while. @returns false when the deadline came first */
  async function calm(deadlineMs = performance.now() + 60_000): Promise<boolean> {
    let sinceMs = performance.now()
    let answers = load.answered.size + reads.right
    let seen = troubles.length
    while (performance.now() < deadlineMs) {
      await sleep(50)
      if (troubles.length > seen) {
        seen = troubles.length
        sinceMs = performance.now()
        answers = load.answered.size + reads.right
      }
      const isEnough = load.answered.size + reads.right >= answers + calmAnswers
      if (isEnough && performance.now() - sinceMs >= calmMs) return true
    }
    return false
  }
}

/** @returns what each path answers while nothing is wrong, the same at both instances */
async function expectedAnswers({ one, other, key }: Servers): Promise<Map<string, string>> {
  const agent = new Agent()
  const expected = new Map<string, string>()
  for (const path of readPaths) {
    const answers = []
    for (const target of [one, other]) answers.push(await ask(agent, target, { method: 'GET', path, key }))
    const [first, second] = answers.map((answer) => answer?.status === 200 && bodyOf(answer.body))
    if (!first || first !== second) throw new Error(`${path}: ${answers.map((answer) => answer?.body).join(' or ')}`)
    expected.set(path, first)
  }
  agent.destroy()
  return expected
}
