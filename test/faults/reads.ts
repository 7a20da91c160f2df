import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { faultOf, type OnTrouble } from './load.ts'
import { ask, type Target } from './queries.ts'

const pauseMs = 5

/**
 * Callers that read the same things over and over. What they read does not change, so every answer of 200 must be, to
 * the letter, the one that was given while nothing was wrong.
 */
export class Reads {
  readonly faults: string[] = []
  /** How often each other answer came: a status, or `none` for a broken connection. */
  readonly others = new Map<string, number>()
  /** Answers that were right. */
  right = 0
  readonly #targets: readonly Target[]
  readonly #key: string
  readonly #expected: ReadonlyMap<string, string>
  readonly #onTrouble: OnTrouble
  readonly #callers: Promise<void>[]
  #isFinishing = false

  /** @param expected what each path answers, by `bodyOf` */
  constructor(
    targets: readonly Target[],
    key: string,
    expected: ReadonlyMap<string, string>,
    connections: number,
    onTrouble: OnTrouble,
  ) {
    this.#targets = targets
    this.#key = key
    this.#expected = expected
    this.#onTrouble = onTrouble
    this.#callers = Array.from({ length: connections }, (_, caller) => this.#call(caller))
  }

  async finish(): Promise<void> {
    this.#isFinishing = true
    await Promise.all(this.#callers)
  }

  async #call(caller: number): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    const questions = [...this.#expected]
    for (let round = caller; !this.#isFinishing; round++) {
      const [path, body] = questions[round % questions.length] ?? ['', '']
      const target = this.#targets[Math.floor(round / questions.length + caller) % this.#targets.length]
      if (!target) throw new Error('There is no target.')
      const wasDown = target.isDown()
      const answer = await ask(agent, target, { method: 'GET', path, key: this.#key })
      if (answer?.status === 200) {
        if (bodyOf(answer.body) === body) this.right += 1
        else this.faults.push(`${path} at ${target.port}: ${answer.body.slice(0, 500)}`)
      } else {
        const status = `${answer?.status ?? 'none'}`
        this.others.set(status, (this.others.get(status) ?? 0) + 1)
        this.#onTrouble(target.port, status, answer?.body ?? '')
        const fault = faultOf(answer, wasDown || target.isDown())
        if (fault) this.faults.push(`${path} at ${target.port}: ${fault}`)
      }
      await sleep(pauseMs)
    }
    agent.destroy()
  }
}

/** An answer but for the moment it is of. A text that is no JSON is itself, and equals nothing. */
export function bodyOf(text: string): string {
  try {
    const { asOf: _, ...rest } = JSON.parse(text) as { asOf?: string }
    return JSON.stringify(rest)
  } catch {
    return text
  }
}
