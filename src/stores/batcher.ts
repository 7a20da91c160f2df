import { Problem } from '../problem.ts'
import { type BatchTimingOptions, openBatchTiming } from './batchTiming.ts'
import { withDeadline } from './timing/deadline.ts'

export interface BatcherOptions<Item> extends BatchTimingOptions {
  /**
   * Processes a batch, and puts results into its items. An exception fails all of them.
   * @param signal aborts at the deadline
   */
  run(items: readonly Item[], signal: AbortSignal): Promise<void>
  /** Maximum number of concurrent batches; further items are queued. */
  concurrentMax: number
  /** Duration after which a batch fails; items that have been queued as long fail with it. */
  timeoutMs: number
  /** Creates the error of items after the deadline; Problem `unavailable` by default. */
  late?: () => Error
}

/** Items of one call, which are never split among batches. */
interface QueuedItems<Item> {
  items: readonly Item[]
  sinceMs: number
  resolve: () => void
  reject: (error: unknown) => void
}

/** Combines the items of concurrent calls into batches. */
export class Batcher<Item> {
  readonly #options: BatcherOptions<Item>
  readonly #timing: ReturnType<typeof openBatchTiming>
  #queue: QueuedItems<Item>[] = []
  queued = 0
  running = 0
  addedAtMs = 0
  #isScheduled = false
  readonly #ended: (() => void)[] = []

  constructor(options: BatcherOptions<Item>) {
    this.#options = options
    this.#timing = openBatchTiming(options, this)
  }

  /** Adds an item to the next batch. @returns the item after this batch @throws as `addAll` */
  async add<Added extends Item>(item: Added): Promise<Added> {
    await this.addAll([item])
    return item
  }

  /**
   * Adds at most `itemsMax` items to the next batch that has space for all of them, and waits for this batch.
   * @throws the error of `late` after the deadline, or the error of the batch
   */
  addAll(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.addedAtMs = performance.now()
      this.#queue.push({ items, sinceMs: this.addedAtMs, resolve, reject })
      this.queued += items.length
      this.#schedule()
    })
  }

  async idle(): Promise<void> {
    while (this.#queue.length > 0 || this.running > 0) {
      await new Promise<void>((resolve) => this.#ended.push(resolve))
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0 || this.running === this.#options.concurrentMax) return
    this.#isScheduled = true
    this.#timing.schedule(() => {
      const batch = this.#takeBatch()
      this.running += 1
      this.#isScheduled = false
      this.#schedule()
      void this.#run(batch)
    })
  }

  #takeBatch(): QueuedItems<Item>[] {
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

  async #run(batch: readonly QueuedItems<Item>[]): Promise<void> {
    const { run, timeoutMs, late: createLate = unavailable } = this.#options
    const items = batch.flatMap((call) => call.items)
    const late = createLate()
    const giveUp = () => late
    try {
      await withDeadline(timeoutMs, giveUp, (signal) => run(items, signal))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
      if (error === late) this.#refuseLate(createLate)
    } finally {
      this.running -= 1
      this.#timing.batchEnded(items.length)
      this.#schedule()
      for (const notify of this.#ended.splice(0)) notify()
    }
  }

  #refuseLate(createLate: () => Error): void {
    const nowMs = performance.now()
    const isLate = ({ sinceMs }: QueuedItems<Item>) => nowMs - sinceMs >= this.#options.timeoutMs
    for (const { reject } of this.#queue.filter(isLate)) reject(createLate())
    this.#queue = this.#queue.filter((call) => !isLate(call))
    this.queued = this.#queue.reduce((sum, { items }) => sum + items.length, 0)
  }
}

function unavailable(): Problem {
  return new Problem('unavailable', 'The databases did not respond in time; retry.', { retryAfterS: 2 })
}
