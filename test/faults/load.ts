import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../kit/until.ts'
import { type Request, type Response, sendRequest } from './httpRequest.ts'
import { clickCount } from './loadAccount.ts'

export interface Target {
  port: number
  /** Whether the scenario has stopped it: connections to it may break. */
  isDown(): boolean
}

interface LoadOptions {
  targets: readonly Target[]
  key: string
  connections: number
  /** Called for each response that is not 200. @param status `none` for a broken connection */
  onFailure?: (port: number, status: string, body: string) => void
}

type Sent = Omit<Request, 'key'>

/**
 * Clients that send one request after the other until the load is finished.
 * @param sendNext sends one request until it is acknowledged; `send` sends it once to the instance with that index, counted
 *   round, and resolves with the body of a 200 response, with undefined after any other one
 */
function startLoad(
  { targets, key, connections, onFailure }: LoadOptions,
  sendNext: (send: (index: number, request: Sent) => Promise<string | undefined>, number: number) => Promise<void>,
) {
  const faults: string[] = []
  const failures = new Map<string, number>()
  let isFinishing = false
  let sent = 0

  async function runClient(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = async (index: number, request: Sent) => {
      const target = targets[index % targets.length]
      if (!target) throw new Error('The load has no target.')
      const wasDown = target.isDown()
      const response = await sendRequest(agent, target, { ...request, key })
      if (response?.status === 200) return response.body
      const status = `${response?.status ?? 'none'}`
      failures.set(status, (failures.get(status) ?? 0) + 1)
      onFailure?.(target.port, status, response?.body ?? '')
      const fault = faultOf(response, wasDown || target.isDown())
      if (fault) faults.push(`${request.path} at ${target.port}: ${fault}`)
      return undefined
    }
    while (!isFinishing) await sendNext(send, sent++)
    agent.destroy()
  }

  const clients = Array.from({ length: connections }, runClient)
  return {
    faults,
    failures,
    async finish(): Promise<void> {
      isFinishing = true
      await Promise.all(clients)
    },
  }
}

/**
 * Checks a response that is not 200. Allowed are 429 and 503 with Retry-After, and a broken connection while the instance
 * is down.
 * @returns what breaks the contract, undefined when nothing does
 */
function faultOf(response: Response | undefined, isDown: boolean): string | undefined {
  if (!response) return isDown ? undefined : 'no response from an instance that is up'
  if ((response.status === 503 || response.status === 429) && response.retryAfter) return undefined
  return `${response.status} ${response.body}`
}

const readPauseMs = 5

/**
 * Repeats reads of rows that do not change, so every 200 response must equal the one recorded before any fault.
 * @param expected the response of each path, by `comparableBody`
 */
export function startReadLoad(options: LoadOptions, expected: ReadonlyMap<string, string>) {
  const reads = [...expected]
  let correct = 0
  const load = startLoad(options, async (send, number) => {
    const [path, body] = reads[number % reads.length] ?? ['', '']
    const found = await send(Math.floor(number / reads.length), { method: 'GET', path })
    if (found !== undefined && comparableBody(found) === body) correct += 1
    else if (found !== undefined) load.faults.push(`${path}: ${found.slice(0, 500)}`)
    await sleep(readPauseMs)
  })
  return { ...load, correct: () => correct }
}

/** A response body without `asOf`, which differs between responses. Text that is not JSON is returned unchanged. */
export function comparableBody(text: string): string {
  try {
    const { asOf: _, ...rest } = JSON.parse(text) as { asOf?: string }
    return JSON.stringify(rest)
  } catch {
    return text
  }
}

const retryDelayMs = 100
/** The load fails when one event is refused for this long. */
const eventTimeoutMs = 120_000

export type EventLoad = ReturnType<typeof startEventLoad>

/**
 * Sends events, one by one or in batches. Each event has its own id. A request is repeated with the same ids until the response
 * is 200, each time at the next instance.
 * @param batchSize events per request; undefined: single events
 * @param idPrefix of its event ids, for several loads of one account
 */
export function startEventLoad({
  batchSize,
  idPrefix = '',
  ...options
}: LoadOptions & { batchSize?: number | undefined; idPrefix?: string }) {
  const acknowledged = new Set<string>()
  const load = startLoad(options, async (send, number) => {
    const { ids, differences, ...request } =
      batchSize === undefined ? single(idPrefix, number) : batch(idPrefix, number, batchSize)
    const deadline = Date.now() + eventTimeoutMs
    for (let attempt = 1; ; attempt++, await sleep(retryDelayMs)) {
      const body = await send(number + attempt, { method: 'POST', ...request })
      if (body !== undefined) {
        load.faults.push(...differences(body, attempt > 1).map((one) => `${ids[0]}, attempt ${attempt}: ${one}`))
        for (const id of ids) acknowledged.add(id)
        return
      }
      if (Date.now() > deadline) {
        load.faults.push(`${ids[0]} was not acknowledged within ${eventTimeoutMs} ms`)
        return
      }
    }
  })
  return {
    ...load,
    acknowledged,
    async progress(events: number): Promise<void> {
      const goal = acknowledged.size + events
      await until(() => acknowledged.size >= goal, eventTimeoutMs)
    },
  }
}

interface Sending extends Pick<Request, 'path' | 'body' | 'contentType'> {
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
