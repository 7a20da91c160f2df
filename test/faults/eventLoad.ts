import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Response, sendRequest, type Target } from './httpRequest.ts'
import { clickCount } from './loadAccount.ts'

const retryDelayMs = 100
/** The load fails when one event is refused for this long. */
const eventTimeoutMs = 120_000
/** Longer than the deadlines of an event's lookup, its queueing and its flush together. */
const requestTimeoutMs = 30_000

/** Called for each response that is not 200. @param status `none` for a broken connection */
export type OnFailure = (port: number, status: string, body: string) => void

/**
 * Concurrent clients that send events. Each event has its own id and is retried with it until the response is 200, each
 * time at the next instance.
 */
export class EventLoad {
  /** Ids of events with a 200 response. */
  readonly acknowledged = new Set<string>()
  /** Responses that break the contract. */
  readonly faults: string[] = []
  /** Number of responses other than 200, by status; `none` for a broken connection. */
  readonly failures = new Map<string, number>()
  readonly #targets: readonly Target[]
  readonly #key: string
  readonly #clients: Promise<void>[]
  readonly #onFailure: OnFailure
  #isFinishing = false
  #sent = 0

  constructor(targets: readonly Target[], key: string, connections: number, onFailure: OnFailure = () => {}) {
    this.#targets = targets
    this.#key = key
    this.#onFailure = onFailure
    this.#clients = Array.from({ length: connections }, () => this.#runClient())
  }

  /** Waits until that many more events are acknowledged. */
  async progress(events: number): Promise<void> {
    const goal = this.acknowledged.size + events
    for (const deadline = Date.now() + eventTimeoutMs; this.acknowledged.size < goal; await sleep(10)) {
      if (Date.now() > deadline) throw new Error(`Only ${this.acknowledged.size} events were acknowledged.`)
    }
  }

  /** Starts no new events and waits until the sent ones are acknowledged. */
  async finish(): Promise<void> {
    this.#isFinishing = true
    await Promise.all(this.#clients)
  }

  async #runClient(): Promise<void> {
    const agents = this.#targets.map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
    while (!this.#isFinishing) {
      const number = this.#sent++
      await this.#send(agents, number, `load-${number}`)
    }
    for (const agent of agents) agent.destroy()
  }

  async #send(agents: readonly Agent[], number: number, id: string): Promise<void> {
    const event = { click_id: `click-${number % clickCount}`, event_name: 'paid', event_id: id, value: number }
    const request = { method: 'POST', path: '/api/v1/events', key: this.#key, body: JSON.stringify(event) } as const
    const deadline = Date.now() + eventTimeoutMs
    for (let attempt = 1; ; attempt++) {
      const index = (number + attempt) % this.#targets.length
      const [agent, target] = [agents[index], this.#targets[index]]
      if (!agent || !target) throw new Error('The load has no target.')
      const wasDown = target.isDown()
      const response = await sendRequest(agent, target, request, requestTimeoutMs)
      if (response?.status === 200) {
        const expected =
          attempt === 1 ? ['{"accepted":true}'] : ['{"accepted":true}', '{"accepted":true,"deduplicated":true}']
        if (!expected.includes(response.body)) this.faults.push(`${id}, attempt ${attempt}: ${response.body}`)
        this.acknowledged.add(id)
        return
      }
      const status = `${response?.status ?? 'none'}`
      this.failures.set(status, (this.failures.get(status) ?? 0) + 1)
      this.#onFailure(target.port, status, response?.body ?? '')
      const fault = faultOf(response, wasDown || target.isDown())
      if (fault) this.faults.push(`${id} at ${target.port}: ${fault}`)
      if (Date.now() > deadline) {
        this.faults.push(`${id} was not acknowledged within ${eventTimeoutMs} ms`)
        return
      }
      await sleep(retryDelayMs)
    }
  }
}

/**
 * Checks a response that is not 200. Allowed are 429 and 503 with Retry-After, and a broken connection while the instance
 * is down.
 * @returns what breaks the contract, undefined when nothing does
 */
export function faultOf(response: Response | undefined, isDown: boolean): string | undefined {
  if (!response) return isDown ? undefined : 'no response from an instance that is up'
  if ((response.status === 503 || response.status === 429) && response.retryAfter) return undefined
  return `${response.status} ${response.body}`
}
