import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { clicks } from './bed.ts'

/** A caller that has no answer after this long gives up and asks again. */
const answerPatienceMs = 15_000
const retryPauseMs = 100
/** A caller that is refused for this long makes the whole load fail. */
const patienceMs = 120_000

/**
 * Callers as they should be: each event has an id of its own, and is sent again with it until it is answered with 200.
 * Ids start with the name of this load, which no other has.
 */
export class Load {
  /** Ids that were answered with 200. */
  readonly answered = new Set<string>()
  /** Answers that no well-behaved server gives. */
  readonly faults: string[] = []
  /** How often each other answer came: a status, or `none` for a broken connection. */
  readonly others = new Map<string, number>()
  readonly #port: number
  readonly #key: string
  readonly #callers: Promise<void>[]
  #isFinishing = false
  #sent = 0

  constructor(port: number, key: string, connections: number) {
    this.#port = port
    this.#key = key
    this.#callers = Array.from({ length: connections }, () => this.#call())
  }

  /** Waits until that many more events were answered. */
  async progress(events: number): Promise<void> {
    const goal = this.answered.size + events
    for (const deadline = Date.now() + patienceMs; this.answered.size < goal; await sleep(10)) {
      if (Date.now() > deadline) throw new Error(`Only ${this.answered.size} events were answered.`)
    }
  }

  /** Sends no new events, and those without an answer until they have one. */
  async finish(): Promise<void> {
    this.#isFinishing = true
    await Promise.all(this.#callers)
  }

  async #call(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!this.#isFinishing) {
      const number = this.#sent++
      await this.#send(agent, number, `load-${number}`)
    }
    agent.destroy()
  }

  async #send(agent: Agent, number: number, id: string): Promise<void> {
    const event = { click_id: `click-${number % clicks}`, event_name: 'paid', event_id: id, value: number }
    const deadline = Date.now() + patienceMs
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#post(agent, JSON.stringify(event))
      if (answer?.status === 200) {
        const expected =
          attempt === 1 ? ['{"accepted":true}'] : ['{"accepted":true}', '{"accepted":true,"deduplicated":true}']
        if (!expected.includes(answer.body)) this.faults.push(`${id}, attempt ${attempt}: ${answer.body}`)
        this.answered.add(id)
        return
      }
      const status = `${answer?.status ?? 'none'}`
      this.others.set(status, (this.others.get(status) ?? 0) + 1)
      if (answer && (answer.status !== 503 || !answer.retryAfter))
        this.faults.push(`${id}: ${answer.status} ${answer.body}`)
      if (Date.now() > deadline) {
        this.faults.push(`${id} had no answer within ${patienceMs} ms`)
        return
      }
      await sleep(retryPauseMs)
    }
  }

  #post(agent: Agent, body: string): Promise<{ status: number; body: string; retryAfter?: string } | undefined> {
    return new Promise((resolve) => {
      const headers = {
        authorization: `ApiKey ${this.#key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      const options = { agent, port: this.#port, method: 'POST', path: '/api/v1/events', headers }
      const sent = request({ ...options, timeout: answerPatienceMs }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('error', () => resolve(undefined))
        answer.on('end', () => {
          const retryAfter = answer.headers['retry-after']
          resolve({ status: answer.statusCode ?? 0, body: text, ...(retryAfter && { retryAfter }) })
        })
      })
      sent.on('timeout', () => sent.destroy())
      sent.on('error', () => resolve(undefined))
      sent.end(body)
    })
  }
}
