import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { faultOf, type OnFailure } from './eventLoad.ts'
import { sendRequest, type Target } from './httpRequest.ts'

const pauseMs = 5

/**
 * Concurrent clients that repeat the same reads. The rows read do not change, so every 200 response must equal the one
 * recorded before any fault.
 */
export class ReadLoad {
  readonly faults: string[] = []
  /** Number of responses other than 200, by status; `none` for a broken connection. */
  readonly failures = new Map<string, number>()
  /** Number of correct responses. */
  correct = 0
  readonly #targets: readonly Target[]
  readonly #key: string
  readonly #expected: ReadonlyMap<string, string>
  readonly #onFailure: OnFailure
  readonly #clients: Promise<void>[]
  #isFinishing = false

  /** @param expected the response of each path, by `comparableBody` */
  constructor(
    targets: readonly Target[],
    key: string,
    expected: ReadonlyMap<string, string>,
    connections: number,
    onFailure: OnFailure,
  ) {
    this.#targets = targets
    this.#key = key
    this.#expected = expected
    this.#onFailure = onFailure
    this.#clients = Array.from({ length: connections }, (_, client) => this.#runClient(client))
  }

  async finish(): Promise<void> {
    this.#isFinishing = true
    await Promise.all(this.#clients)
  }

  async #runClient(client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    const expected = [...this.#expected]
    for (let round = client; !this.#isFinishing; round++) {
      const [path, body] = expected[round % expected.length] ?? ['', '']
      const target = this.#targets[Math.floor(round / expected.length + client) % this.#targets.length]
      if (!target) throw new Error('The load has no target.')
      const wasDown = target.isDown()
      const response = await sendRequest(agent, target, { method: 'GET', path, key: this.#key })
      if (response?.status === 200) {
        if (comparableBody(response.body) === body) this.correct += 1
        else this.faults.push(`${path} at ${target.port}: ${response.body.slice(0, 500)}`)
      } else {
        const status = `${response?.status ?? 'none'}`
        this.failures.set(status, (this.failures.get(status) ?? 0) + 1)
        this.#onFailure(target.port, status, response?.body ?? '')
        const fault = faultOf(response, wasDown || target.isDown())
        if (fault) this.faults.push(`${path} at ${target.port}: ${fault}`)
      }
      await sleep(pauseMs)
    }
    agent.destroy()
  }
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
