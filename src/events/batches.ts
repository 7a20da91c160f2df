import { Problem } from '../problem.ts'

export interface BatchOptions<Item, Result> {
  /**
   * Answers a batch: one result an item, in their order. An Error among them fails its own item and no other; what is
   * thrown fails them all.
   * @param signal aborts when the deadline has passed
   */
  run(items: readonly Item[], signal: AbortSignal): Promise<readonly (Result | Error)[]>
  /** Items a batch. */
  itemsMax: number
  /** Batches at the same time; while they run, the next one gathers. */
  underWayMax: number
  /** A batch that takes longer has failed; whatever still becomes of it, nobody waits for it. */
  deadlineMs: number
  /** So many batches may start within any span of so many milliseconds. Without it they start as they come. */
  pace?: { starts: number; withinMs: number }
}

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** What concurrent calls ask for, put together: they share one question, and each gets its own answer. */
export class Batches<Item, Result> {
  readonly #options: BatchOptions<Item, Result>
  /** When the last `pace.starts` batches started, oldest first; by a clock that nobody sets. */
  readonly #startedAtMs: number[] = []
  #waiting: Waiting<Item, Result>[] = []
  #underWay = 0
  #isScheduled = false
  /** Told at the end of the next batch. */
  readonly #ended: (() => void)[] = []

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options
  }

  /** How many items wait for their batch to start. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Puts an item into the next batch.
   * @throws Problem `unavailable` after the deadline, or whatever the batch ended with
   */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when nothing waits and nothing runs. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0 || this.#underWay > 0) {
      await new Promise<void>((resolve) => this.#ended.push(resolve))
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#underWay === this.#options.underWayMax) return
    this.#isScheduled = true
    const pauseMs = this.#pauseMs()
    // Even without a pause, every call that is being read from a socket right now gets in.
    if (pauseMs > 0) setTimeout(() => this.#start(), pauseMs)
    else setImmediate(() => this.#start())
  }

  #pauseMs(): number {
    const { pace } = this.#options
    const earliest = pace && this.#startedAtMs.length === pace.starts ? this.#startedAtMs[0] : undefined
    return pace && earliest !== undefined ? earliest + pace.withinMs - performance.now() : 0
  }

  #start(): void {
    const { pace, itemsMax } = this.#options
    if (pace) {
      if (this.#startedAtMs.length === pace.starts) this.#startedAtMs.shift()
      this.#startedAtMs.push(performance.now())
    }
    const batch = this.#waiting.splice(0, itemsMax)
    this.#underWay += 1
    this.#isScheduled = false
    this.#schedule()
    void this.#run(batch)
  }

  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const { run, deadlineMs } = this.#options
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(unavailable()), deadlineMs)
    try {
      const answered = run(
        batch.map(({ item }) => item),
        late.signal,
      )
      const results = await Promise.race([answered, aborted(late.signal)])
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result instanceof Error) reject(result)
        else resolve(result as Result)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      clearTimeout(timer)
      this.#underWay -= 1
      this.#schedule()
      for (const tell of this.#ended.splice(0)) tell()
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function unavailable(): Problem {
  return new Problem('unavailable', 'A store does not answer at the moment; try again.', { retryAfterS: 2 })
}
