import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Request, type Response, sendRequest, type Target } from './httpRequest.ts'
import { clickCount } from './loadAccount.ts'

const retryDelayMs = 100
/** The load fails when one event is refused for this long. */
const eventTimeoutMs = 120_000
/** Longer than the deadlines of an event's lookup, its queueing and its flush together. */
const requestTimeoutMs = 30_000

/** Called for each response that is not 200. @param status `none` for a broken connection */
export type OnFailure = (port: number, status: string, body: string) => void

/**
 * Concurrent clients that send events, one by one or in batches. Each event has its own id. A request is repeated with the same
 * ids until the response is 200, each time at the next instance.
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
  readonly #batchSize: number | undefined
  readonly #idPrefix: string
  #isFinishing = false
  #sent = 0

  /**
   * @param batchSize events per request; undefined: single events
   * @param idPrefix of its event ids, for several loads of one account
   */
  constructor(
    targets: readonly Target[],
    key: string,
    connections: number,
    {
      onFailure = () => {},
      batchSize,
      idPrefix = '',
    }: { onFailure?: OnFailure; batchSize?: number | undefined; idPrefix?: string } = {},
  ) {
    this.#targets = targets
    this.#key = key
    this.#onFailure = onFailure
    this.#batchSize = batchSize
    this.#idPrefix = idPrefix
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
      const sending =
        this.#batchSize === undefined ? single(this.#idPrefix, number) : batch(this.#idPrefix, number, this.#batchSize)
      await this.#send(agents, number, sending)
    }
    for (const agent of agents) agent.destroy()
  }

  async #send(agents: readonly Agent[], number: number, { ids, differences, ...sent }: Sending): Promise<void> {
    const request = { method: 'POST', key: this.#key, ...sent } as const
    const name = ids[0]
    const deadline = Date.now() + eventTimeoutMs
    for (let attempt = 1; ; attempt++) {
      const index = (number + attempt) % this.#targets.length
      const [agent, target] = [agents[index], this.#targets[index]]
      if (!agent || !target) throw new Error('The load has no target.')
      const wasDown = target.isDown()
      const response = await sendRequest(agent, target, request, requestTimeoutMs)
      if (response?.status === 200) {
        for (const difference of differences(response.body, attempt > 1)) {
          this.faults.push(`${name}, attempt ${attempt}: ${difference}`)
        }
        for (const id of ids) this.acknowledged.add(id)
        return
      }
      const status = `${response?.status ?? 'none'}`
      this.failures.set(status, (this.failures.get(status) ?? 0) + 1)
      this.#onFailure(target.port, status, response?.body ?? '')
      const fault = faultOf(response, wasDown || target.isDown())
      if (fault) this.faults.push(`${name} at ${target.port}: ${fault}`)
      if (Date.now() > deadline) {
        this.faults.push(`${name} was not acknowledged within ${eventTimeoutMs} ms`)
        return
      }
      await sleep(retryDelayMs)
    }
  }
}

/** One request of a load. */
interface Sending extends Pick<Request, 'path' | 'body' | 'contentType'> {
  /** The events that a response of 200 acknowledges. */
  ids: readonly string[]
  /** Compares the body of such a response with the expected one. @returns the differences */
  differences(body: string, isRepeated: boolean): string[]
}

const accepted = '{"accepted":true}'
const deduplicated = '{"accepted":true,"deduplicated":true}'

function single(idPrefix: string, number: number): Sending {
  const event = eventOf(number, `${idPrefix}load-${number}`)
  return {
    path: '/api/v1/events',
    body: JSON.stringify(event),
    ids: [event.event_id],
    differences: (body, isRepeated) => (body === accepted || (isRepeated && body === deduplicated) ? [] : [body]),
  }
}

/** A batch as JSON or as NDJSON; its first event occurs a second time at its end. */
function batch(idPrefix: string, number: number, size: number): Sending {
  const events = Array.from({ length: size }, (_, index) =>
    eventOf(number * size + index, `${idPrefix}batch-${number}-${index}`),
  )
  const first = events[0] as (typeof events)[number]
  const all = [...events, first]
  const isNdjson = number % 2 === 1
  return {
    path: '/api/v1/events/batch',
    body: isNdjson ? all.map((event) => JSON.stringify(event)).join('\n') : JSON.stringify({ events: all }),
    contentType: isNdjson ? 'application/x-ndjson' : 'application/json',
    ids: events.map(({ event_id }) => event_id),
    differences(body, isRepeated) {
      const { stored, deduplicated: duplicates, results } = JSON.parse(body) as BatchResponse
      const found = results.flatMap(({ index, ...result }, position) => {
        const text = JSON.stringify(result)
        const isExpected =
          position === size ? text === deduplicated : text === accepted || (isRepeated && text === deduplicated)
        return index === position && isExpected ? [] : [`result ${position} is ${index}: ${text}`]
      })
      const isComplete = results.length === all.length && stored + duplicates === all.length
      return isComplete ? found : [`${stored} stored and ${duplicates} duplicates of ${all.length}`, ...found]
    },
  }
}

interface BatchResponse {
  stored: number
  deduplicated: number
  results: { index: number }[]
}

function eventOf(number: number, id: string) {
  return { click_id: `click-${number % clickCount}`, event_name: 'paid', event_id: id, value: number }
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
