import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Request, sendRequest } from '../faults/httpRequest.ts'
import { clickCount, readPaths } from '../faults/loadAccount.ts'
import type { Accounts } from './accounts.ts'

/** Requests per second of each kind, sent without waiting for earlier responses, except exports. */
const perSecond = { read: 10, readWithUnseenKey: 2, event: 20, export: 1, health: 10 } as const
export type Kind = keyof typeof perSecond
export const kinds = Object.keys(perSecond) as Kind[]

export type RegularClients = ReturnType<typeof openRegularClients>

export function openRegularClients(port: number, { regular: key, unseen, searching }: Accounts) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  let number = 0

  /** Sends requests of a kind. @returns p50 and p99 in ms, and the number of responses other than 200 by message */
  async function send(kind: Kind, durationMs: number) {
    const latenciesMs: number[] = []
    const failures: Record<string, number> = {}
    const inFlight: Promise<void>[] = []
    const startedMs = performance.now()
    for (let count = 0; count < (durationMs / 1000) * perSecond[kind]; count++) {
      await sleep(Math.max(0, startedMs + (count * 1000) / perSecond[kind] - performance.now()))
      const sent = sendOne(kind, latenciesMs, failures)
      inFlight.push(sent)
      // While other accounts export too, an account is limited to one export at a time.
      if (kind === 'export') await sent
    }
    await Promise.all(inFlight)
    latenciesMs.sort((one, other) => one - other)
    return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99), failures }
  }

  async function sendOne(kind: Kind, latenciesMs: number[] = [], failures: Record<string, number> = {}): Promise<void> {
    const request = nextOf(kind)
    const sentMs = performance.now()
    const response = await sendRequest(agent, { port }, request)
    latenciesMs.push(performance.now() - sentMs)
    if (response?.status === 200) return
    const failure = response ? `${response.status} ${response.body.slice(0, 80)}` : 'no response'
    failures[failure] = (failures[failure] ?? 0) + 1
  }

  function nextOf(kind: Kind): Request {
    number += 1
    const path = readPaths[number % readPaths.length] ?? ''
    if (kind === 'read') return { method: 'GET', path, key }
    if (kind === 'readWithUnseenKey') return { method: 'GET', path: '/api/v1/campaigns', key: unseen.pop() ?? '' }
    if (kind === 'health') return { method: 'GET', path: '/healthz', key }
    if (kind === 'export') return { method: 'GET', path: '/api/v1/clicks?format=csv', key }
    const event = { click_id: `click-${number % clickCount}`, event_name: 'paid', event_id: `regular-${number}` }
    return { method: 'POST', path: '/api/v1/events', key, body: JSON.stringify(event) }
  }

  return {
    async run(durationMs: number) {
      const outcomes = kinds.map(async (kind) => [kind, await send(kind, durationMs)] as const)
      return Object.fromEntries(await Promise.all(outcomes)) as Record<Kind, Awaited<ReturnType<typeof send>>>
    },
    /** Sends many concurrent requests, so that the server has opened most of its connections to the stores. */
    async warmUp(): Promise<void> {
      for (const concurrency of [1, 128])
        await Promise.all(Array.from({ length: concurrency }, () => kinds.map((kind) => sendOne(kind))).flat())
      // Searches have connections of their own; these last long enough to need all of them.
      const path = `/api/v1/campaigns/search?q=${'b'.repeat(50)}`
      const search = () => sendRequest(agent, { port }, { method: 'GET', path, key: searching })
      await Promise.all(Array.from({ length: 8 }, search))
    },
    disconnect: () => agent.destroy(),
  }
}

function quantile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
}
