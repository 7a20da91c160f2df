import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { clicks } from './fill.ts'
import { type Answer, ask, type Target } from './queries.ts'

const retryPauseMs = 100
/** A caller that is refused for this long makes the whole load fail. */
const patienceMs = 120_000
/** A caller of events asks another time after this long: an event is looked up, waits for a flush, and is flushed, each with a deadline. */
const answerPatienceMs = 30_000

/** Told of every answer that is not 200: of whom, its status or `none`, and its body. */
export type OnTrouble = (port: number, status: string, body: string) => void

/**
 * Callers as they should be: each event has an id of its own, and is sent again with it until it is answered with 200,
 * each time to the next server. Ids start with the name of this load, which no other has.
 */
export class Load {
  /** Ids that were answered with 200. */
  readonly answered = new Set<string>()
  /** Answers that no well-behaved server gives. */
  readonly faults: string[] = []
  /** How often each other answer came: a status, or `none` for a broken connection. */
  readonly others = new Map<string, number>()
  readonly #targets: readonly Target[]
  readonly #key: string
  readonly #callers: Promise<void>[]
  readonly #onTrouble: OnTrouble
  #isFinishing = false
  #sent = 0

  constructor(targets: readonly Target[], key: string, connections: number, onTrouble: OnTrouble = () => {}) {
    this.#targets = targets
    this.#key = key
    this.#onTrouble = onTrouble
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
    const agents = this.#targets.map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
    while (!this.#isFinishing) {
      const number = this.#sent++
      await this.#send(agents, number, `load-${number}`)
    }
    for (const agent of agents) agent.destroy()
  }

  async #send(agents: readonly Agent[], number: number, id: string): Promise<void> {
    const event = { click_id: `click-${number % clicks}`, event_name: 'paid', event_id: id, value: number }
    const deadline = Date.now() + patienceMs
    for (let attempt = 1; ; attempt++) {
      const index = (number + attempt) % this.#targets.length
      const [agent, target] = [agents[index], this.#targets[index]]
      if (!agent || !target) throw new Error('There is no target.')
      const wasDown = target.isDown()
      const question = { method: 'POST', path: '/api/v1/events', key: this.#key, body: JSON.stringify(event) } as const
      const answer = await ask(agent, target, question, answerPatienceMs)
      if (answer?.status === 200) {
        const expected =
          attempt === 1 ? ['{"accepted":true}'] : ['{"accepted":true}', '{"accepted":true,"deduplicated":true}']
        if (!expected.includes(answer.body)) this.faults.push(`${id}, attempt ${attempt}: ${answer.body}`)
        this.answered.add(id)
        return
      }
      const status = `${answer?.status ?? 'none'}`
      this.others.set(status, (this.others.get(status) ?? 0) + 1)
      this.#onTrouble(target.port, status, answer?.body ?? '')
      const fault = faultOf(answer, wasDown || target.isDown())
      if (fault) this.faults.push(`${id} at ${target.port}: ${fault}`)
      if (Date.now() > deadline) {
        this.faults.push(`${id} had no answer within ${patienceMs} ms`)
        return
      }
      await sleep(retryPauseMs)
    }
  }
}

/**
 * What is wrong with an answer that is not 200: it may be 429 or 503 with the time to wait, and a connection may break
 * only at a server that is down.
 */
export function faultOf(answer: Answer | undefined, isDown: boolean): string | undefined {
  if (!answer) return isDown ? undefined : 'no answer from a server that is up'
  if ((answer.status === 503 || answer.status === 429) && answer.retryAfter) return undefined
  return `${answer.status} ${answer.body}`
}
