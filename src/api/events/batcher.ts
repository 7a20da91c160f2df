import { Problem } from '../../problem.ts'

export interface BatcherOptions<Item, Result> {
  /**
   * Answers a batch: one result an item, in their order. An Error among them fails its own item and no other; what is
   * thrown fails them all.
   * @param signal aborts when the deadline has passed
   */
  run(items: readonly Item[], signal: AbortSignal): Promise<readonly (Result | Error)[]>
  /** Items a batch. */
  itemsMax: number
  /** Batches at the same time; while they run, the next one gathers. */
  concurrentMax: number
  /**
   * A batch that takes longer has failed; whatever still becomes of it, nobody waits for it, and whoever has waited for the
   * next one as long as that does not wait once more.
   */
  deadlineMs: number
  /**
   * So many batches may start in a window of so many milliseconds, which begins with the first of them. Without it they
   * start as they come. TRAP: over any span, instead of windows, one late batch would space out all that follow.
   */
  pace?: { starts: number; withinMs: number }
  /**
   * A batch that may start waits for the callers that the last one answered, who may ask again: one batch of all costs
   * less than two of half. It waits until it is as large as that one was with those who waited meanwhile, until no item
   * has come for `quietMs`, or for `mostMs` and `mostMsPerItem` more for each of those that it waits for. Beside a running
   * batch it waits until it has so many items, or for so long. Without it nothing waits.
   */
  gather?: {
    quietMs: number
    mostMs: number
    mostMsPerItem: number
    beside: { items: number; mostMs: number }
  }
}

type Gathering = NonNullable<BatcherOptions<never, never>['gather']>

interface QueuedItem<Item, Result> {
  item: Item
  sinceMs: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** What concurrent calls ask for, put together: they share one question, and each gets its own answer. */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  /** The window of `pace`: when it began, by a clock that nobody sets, and how many started in it. */
  #windowAtMs = Number.NEGATIVE_INFINITY
  #startsInWindow = 0
  #queue: QueuedItem<Item, Result>[] = []
  /** When the last item came, when the answers of the last batch were written, and how many may come now that they are. */
  #addedAtMs = 0
  #respondedAtMs = 0
  #expected = 1
  #running = 0
  #isScheduled = false
  /** Told at the end of the next batch. */
  readonly #ended: (() => void)[] = []

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
  }

  /** How many items wait for their batch to start. */
  get queued(): number {
    return this.#queue.length
  }

  /**
   * Puts an item into the next batch.
   * @throws Problem `unavailable` after the deadline, or whatever the batch ended with
   */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#addedAtMs = performance.now()
      this.#queue.push({ item, sinceMs: this.#addedAtMs, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when nothing waits and nothing runs. */
  async idle(): Promise<void> {
    while (this.#queue.length > 0 || this.#running > 0) {
      await new Promise<void>((resolve) => this.#ended.push(resolve))
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0 || this.#running === this.#options.concurrentMax) return
    this.#isScheduled = true
    const pauseMs = this.#pauseMs()
    // Even without a pause, every call that is being read from a socket right now gets in.
    if (pauseMs > 0) setTimeout(() => this.#gather(), pauseMs)
    else setImmediate(() => this.#gather())
  }

  /** @param sinceMs when the batch could have started */
  #gather(sinceMs = performance.now()): void {
    const { gather } = this.#options
    if (!gather || this.#isGathered(gather, sinceMs)) this.#start()
    // What has arrived meanwhile is read from its sockets between the timer and the check.
    else setTimeout(() => setImmediate(() => this.#gather(sinceMs)), gather.quietMs)
  }

  #isGathered({ quietMs, mostMs, mostMsPerItem, beside }: Gathering, sinceMs: number): boolean {
    const { length } = this.#queue
    const nowMs = performance.now()
    if (length >= this.#options.itemsMax) return true
    if (this.#running > 0) return length >= beside.items || nowMs - sinceMs >= beside.mostMs
    if (length >= this.#expected) return true
    if (nowMs - Math.max(this.#addedAtMs, this.#respondedAtMs) >= quietMs) return true
    return nowMs - Math.max(sinceMs, this.#respondedAtMs) >= mostMs + mostMsPerItem * this.#expected
  }

  #pauseMs(): number {
    const { pace } = this.#options
    if (!pace || this.#startsInWindow < pace.starts) return 0
    return this.#windowAtMs + pace.withinMs - performance.now()
  }

  #start(): void {
    const { pace, itemsMax } = this.#options
    if (pace) {
      const nextAtMs = this.#windowAtMs + pace.withinMs
      const nowMs = performance.now()
      if (nowMs >= nextAtMs || this.#startsInWindow === pace.starts) {
        // TRAP: a timer may be a little early; the window is not.
        this.#windowAtMs = Math.max(nowMs, nextAtMs)
        this.#startsInWindow = 0
      }
      this.#startsInWindow += 1
    }
    const batch = this.#queue.splice(0, itemsMax)
    this.#running += 1
    this.#isScheduled = false
    this.#schedule()
    void this.#run(batch)
  }

  async #run(batch: readonly QueuedItem<Item, Result>[]): Promise<void> {
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
      if (late.signal.aborted) this.#refuseLate()
      this.#running -= 1
      // TRAP: a thousand answers take 30 ms to write, in which nobody is heard who asks again: it is no silence.
      this.#respondedAtMs = Number.POSITIVE_INFINITY
      setImmediate(() => {
        this.#respondedAtMs = performance.now()
      })
      this.#expected = batch.length + this.#queue.length
      this.#schedule()
      for (const tell of this.#ended.splice(0)) tell()
    }
  }

  #refuseLate(): void {
    const nowMs = performance.now()
    const isLate = ({ sinceMs }: QueuedItem<Item, Result>) => nowMs - sinceMs >= this.#options.deadlineMs
    for (const { reject } of this.#queue.filter(isLate)) reject(unavailable())
    this.#queue = this.#queue.filter((waiting) => !isLate(waiting))
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
