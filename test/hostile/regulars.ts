import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { clicks, readPaths } from '../faults/fill.ts'
import { ask, type Question } from '../faults/queries.ts'
import type { Accounts } from './accounts.ts'

/** Requests of each kind a second; but for exports, whether or not the earlier ones were answered. */
const perSecond = { read: 10, readWithUnseenKey: 2, event: 20, export: 1 } as const
export type Kind = keyof typeof perSecond
export const kinds = Object.keys(perSecond) as Kind[]

/** What became of the requests of one kind. */
export interface Outcome {
  answered: number
  p50Ms: number
  p99Ms: number
  /** Responses other than 200, and requests without one, each with its count. */
  others: Record<string, number>
}

/** Clients that behave well, over connections that they keep. */
export class Regulars {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #port: number
  readonly #accounts: Accounts
  #number = 0

  constructor(port: number, accounts: Accounts) {
    this.#port = port
    this.#accounts = accounts
  }

  /** Sends requests of every kind for a while. @returns when the last one has been answered */
  async work(forMs: number): Promise<Record<Kind, Outcome>> {
    const outcomes = kinds.map(async (kind) => [kind, await this.#send(kind, forMs)] as const)
    return Object.fromEntries(await Promise.all(outcomes)) as Record<Kind, Outcome>
  }

  /** Sends many requests at once, so that the server has opened as many connections to its stores as it ever does. */
  async warmUp(): Promise<void> {
    for (const together of [1, 128]) {
      await Promise.all(Array.from({ length: together }, () => kinds.map((kind) => this.#sendOne(kind, [], {}))).flat())
    }
  }

  /** Closes its connections; the next request opens others. */
  disconnect(): void {
    this.#agent.destroy()
  }

  async #send(kind: Kind, forMs: number): Promise<Outcome> {
    const tookMs: number[] = []
    const others: Record<string, number> = {}
    const inFlight: Promise<void>[] = []
    const startedMs = performance.now()
    for (let count = 0; count < (forMs / 1000) * perSecond[kind]; count++) {
      await sleep(Math.max(0, startedMs + (count * 1000) / perSecond[kind] - performance.now()))
      const sent = this.#sendOne(kind, tookMs, others)
      inFlight.push(sent)
      // An account has one export at a time while others have theirs.
      if (kind === 'export') await sent
    }
    await Promise.all(inFlight)
    tookMs.sort((one, other) => one - other)
    return { answered: tookMs.length, p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99), others }
  }

  async #sendOne(kind: Kind, tookMs: number[], others: Record<string, number>): Promise<void> {
    const question = this.#next(kind)
    const sentMs = performance.now()
    const answer = await ask(this.#agent, { port: this.#port, isDown: () => false }, question)
    tookMs.push(performance.now() - sentMs)
    if (answer?.status === 200) return
    const said = answer ? `${answer.status} ${answer.body.slice(0, 80)}` : 'no response'
    others[said] = (others[said] ?? 0) + 1
  }

  #next(kind: Kind): Question {
    const number = this.#number++
    const { regular: key, unseen } = this.#accounts
    const path = readPaths[number % readPaths.length] ?? ''
    if (kind === 'read') return { method: 'GET', path, key }
    if (kind === 'readWithUnseenKey') return { method: 'GET', path: '/api/v1/campaigns', key: unseen.pop() ?? '' }
    if (kind === 'export') return { method: 'GET', path: '/api/v1/clicks?format=csv', key }
    const event = { click_id: `click-${number % clicks}`, event_name: 'paid', event_id: `regular-${number}` }
    return { method: 'POST', path: '/api/v1/events', key, body: JSON.stringify(event) }
  }
}

function quantile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
}
