import { Problem } from '../problem.ts'
import { withDeadline } from './timing/deadline.ts'

export interface BatcherOptions<Item, Result> {
  /**
   * Processes a batch: one result per item, in order. An Error among the results fails its item, an exception all items.
   * @param signal aborts at the deadline
   */
  run(items: readonly Item[], signal: AbortSignal): Promise<readonly (Result | Error)[]>
  itemsMax: number
  /** Maximum number of concurrent batches; further items are queued. */
  concurrentMax: number
  /** Duration after which a batch fails; items that have been queued as long fail with it. */
  timeoutMs: number
  /** Creates the error of items after the deadline; Problem `unavailable` by default. */
  late?: () => Error
  /**
   * Maximum number of batches that start in a time window, which begins with the first of them. Unlimited by default.
   * TRAP: with a limit over any span instead of windows, one late batch would delay all batches after it.
   */
  pace?: { starts: number; withinMs: number }
  /**
   * Delays a batch until the callers of the last batch could call again: one large batch costs less than two small ones. It
   * waits for as many items as the last batch and the queue had, for `quietMs` without a new item, or for `mostMs` plus
   * `mostMsPerItem` for each expected item; beside a running batch, for `beside.items` items or `beside.mostMs`.
   */
  gather?: {
    quietMs: number
    mostMs: number
    mostMsPerItem: number
    beside: { items: number; mostMs: number }
  }
}

type Gathering = NonNullable<BatcherOptions<never, never>['gather']>

/** Items of one call, which are never split among batches. */
interface QueuedItems<Item, Result> {
  items: readonly Item[]
  sinceMs: number
  resolve: (results: readonly (Result | Error)[]) => void
  reject: (error: unknown) => void
}

/** Combines the items of concurrent calls into batches; each call gets its own results. */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  /** Start of the current window of `pace` by the monotonic clock, and the number of batches started in it. */
  #windowAtMs = Number.NEGATIVE_INFINITY
  #startsInWindow = 0
  #queue: QueuedItems<Item, Result>[] = []
  queued = 0
  /** When the last item was added, when the results of the last batch were delivered, and how many items may follow it. */
  #addedAtMs = 0
  #respondedAtMs = 0
  #expected = 1
  #running = 0
  #isScheduled = false
  readonly #ended: (() => void)[] = []

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
  }

  /** Adds an item to the next batch. @throws the error of `late` after the deadline, or the error of the item or its batch */
  async add(item: Item): Promise<Result> {
    const [result] = await this.addAll([item])
    if (result instanceof Error) throw result
    return result as Result
  }

  /**
   * Adds at most `itemsMax` items to the next batch that has space for all of them.
   * @returns a result or an Error for each item, in their order
   * @throws the error of `late` after the deadline, or the error of the batch
   */
  addAll(items: readonly Item[]): Promise<readonly (Result | Error)[]> {
    if (items.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      this.#addedAtMs = performance.now()
      this.#queue.push({ items, sinceMs: this.#addedAtMs, resolve, reject })
      this.queued += items.length
      this.#schedule()
    })
  }

  async idle(): Promise<void> {
    while (this.#queue.length > 0 || this.#running > 0) {
      await new Promise<void>((resolve) => this.#ended.push(resolve))
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0 || this.#running === this.#options.concurrentMax) return
    this.#isScheduled = true
    const pauseMs = this.#pauseMs()
    // Even without a pause, the batch includes all calls that are being read from sockets now.
    if (pauseMs > 0) setTimeout(() => this.#gather(), pauseMs)
    else setImmediate(() => this.#gather())
  }

  /** @param sinceMs when the batch could have started */
  #gather(sinceMs = performance.now()): void {
    const { gather } = this.#options
    if (!gather || this.#isGathered(gather, sinceMs)) this.#start()
    // Sockets are read between the timer and the check.
    else setTimeout(() => setImmediate(() => this.#gather(sinceMs)), gather.quietMs)
  }

  #isGathered({ quietMs, mostMs, mostMsPerItem, beside }: Gathering, sinceMs: number): boolean {
    const length = this.queued
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
    const { pace } = this.#options
    if (pace) {
      const nextAtMs = this.#windowAtMs + pace.withinMs
      const nowMs = performance.now()
      if (nowMs >= nextAtMs || this.#startsInWindow === pace.starts) {
        // TRAP: a timer may fire a little early; the window does not start earlier.
        this.#windowAtMs = Math.max(nowMs, nextAtMs)
        this.#startsInWindow = 0
      }
      this.#startsInWindow += 1
    }
    const batch = this.#takeBatch()
    this.#running += 1
    this.#isScheduled = false
    this.#schedule()
    void this.#run(batch)
  }

  #takeBatch(): QueuedItems<Item, Result>[] {
    let items = 0
    let calls = 0
    for (const call of this.#queue) {
      if (items + call.items.length > this.#options.itemsMax) break
      items += call.items.length
      calls += 1
    }
    this.queued -= items
    return this.#queue.splice(0, calls)
  }

  async #run(batch: readonly QueuedItems<Item, Result>[]): Promise<void> {
    const { run, timeoutMs, late: createLate = unavailable } = this.#options
    const items = batch.flatMap((call) => call.items)
    const late = createLate()
    try {
      const results = await withDeadline(
        timeoutMs,
        () => late,
        (signal) => run(items, signal),
      )
      let first = 0
      for (const call of batch) {
        call.resolve(results.slice(first, first + call.items.length))
        first += call.items.length
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
      if (error === late) this.#refuseLate(createLate)
    } finally {
      this.#running -= 1
      // TRAP: a thousand responses take 30 ms to write. No call can arrive in that time, so it is not quiet time.
      this.#respondedAtMs = Number.POSITIVE_INFINITY
      setImmediate(() => {
        this.#respondedAtMs = performance.now()
      })
      this.#expected = items.length + this.queued
      this.#schedule()
      for (const notify of this.#ended.splice(0)) notify()
    }
  }

  #refuseLate(createLate: () => Error): void {
    const nowMs = performance.now()
    const isLate = ({ sinceMs }: QueuedItems<Item, Result>) => nowMs - sinceMs >= this.#options.timeoutMs
    for (const { reject } of this.#queue.filter(isLate)) reject(createLate())
    this.#queue = this.#queue.filter((call) => !isLate(call))
    this.queued = this.#queue.reduce((sum, { items }) => sum + items.length, 0)
  }
}

function unavailable(): Problem {
  return new Problem('unavailable', 'The databases did not respond in time; retry.', { retryAfterS: 2 })
}
