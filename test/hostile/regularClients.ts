import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Request, sendRequest } from '../faults/httpRequest.ts'
import { clickCount, readPaths } from '../faults/loadAccount.ts'
import type { Accounts } from './accounts.ts'

/** Requests per second of each kind, sent without waiting for earlier responses, except exports. */
const perSecond = { read: 10, readWithUnseenKey: 2, event: 20, export: 1 } as const
export type Kind = keyof typeof perSecond
export const kinds = Object.keys(perSecond) as Kind[]

/** Result of the requests of one kind. */
export interface Outcome {
  completed: number
  p50Ms: number
  p99Ms: number
  /** Number of responses other than 200, and of requests without a response, by message. */
  failures: Record<string, number>
}

/** Well-behaved clients, over keep-alive connections. */
export class RegularClients {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #port: number
  readonly #accounts: Accounts
  #number = 0

  constructor(port: number, accounts: Accounts) {
    this.#port = port
    this.#accounts = accounts
  }

  /** Sends requests of every kind. @returns when the last response has arrived */
  async run(durationMs: number): Promise<Record<Kind, Outcome>> {
    const outcomes = kinds.map(async (kind) => [kind, await this.#send(kind, durationMs)] as const)
    return Object.fromEntries(await Promise.all(outcomes)) as Record<Kind, Outcome>
  }

  /** Sends many concurrent requests, so that the server has opened most of its connections to the stores. */
  async warmUp(): Promise<void> {
    for (const concurrency of [1, 128]) {
      const sends = Array.from({ length: concurrency }, () => kinds.map((kind) => this.#sendOne(kind, [], {}))).flat()
      await Promise.all(sends)
    }
    // Searches have connections of their own; these last long enough to need all of them.
    const search: Request = {
      method: 'GET',
      path: `/api/v1/campaigns/search?q=${'b'.repeat(50)}`,
      key: this.#accounts.searching,
    }
    const server = { port: this.#port, isDown: () => false }
    await Promise.all(Array.from({ length: 8 }, () => sendRequest(this.#agent, server, search)))
  }

  /** Closes the connections; the next request opens new ones. */
  disconnect(): void {
    this.#agent.destroy()
  }

  async #send(kind: Kind, durationMs: number): Promise<Outcome> {
    const latenciesMs: number[] = []
    const failures: Record<string, number> = {}
    const inFlight: Promise<void>[] = []
    const startedMs = performance.now()
    for (let count = 0; count < (durationMs / 1000) * perSecond[kind]; count++) {
      await sleep(Math.max(0, startedMs + (count * 1000) / perSecond[kind] - performance.now()))
      const sent = this.#sendOne(kind, latenciesMs, failures)
      inFlight.push(sent)
      // While other accounts export too, an account is limited to one export at a time.
      if (kind === 'export') await sent
    }
    await Promise.all(inFlight)
    latenciesMs.sort((one, other) => one - other)
    return {
      completed: latenciesMs.length,
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
      failures,
    }
  }

  async #sendOne(kind: Kind, latenciesMs: number[], failures: Record<string, number>): Promise<void> {
    const request = this.#next(kind)
    const sentMs = performance.now()
    const response = await sendRequest(this.#agent, { port: this.#port, isDown: () => false }, request)
    latenciesMs.push(performance.now() - sentMs)
    if (response?.status === 200) return
    const failure = response ? `${response.status} ${response.body.slice(0, 80)}` : 'no response'
    failures[failure] = (failures[failure] ?? 0) + 1
  }

  #next(kind: Kind): Request {
    const number = this.#number++
    const { regular: key, unseen } = this.#accounts
    const path = readPaths[number % readPaths.length] ?? ''
    if (kind === 'read') return { method: 'GET', path, key }
    if (kind === 'readWithUnseenKey') return { method: 'GET', path: '/api/v1/campaigns', key: unseen.pop() ?? '' }
    if (kind === 'export') return { method: 'GET', path: '/api/v1/clicks?format=csv', key }
    const event = { click_id: `click-${number % clickCount}`, event_name: 'paid', event_id: `regular-${number}` }
    return { method: 'POST', path: '/api/v1/events', key, body: JSON.stringify(event) }
  }
}

function quantile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
}
