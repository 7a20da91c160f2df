/** The count of the current window, and the milliseconds until the window ends. */
export interface WindowCount {
  count: number
  endsInMs: number
}

interface Minute {
  startedAtMs: number
  count: number
}

/** Window of every limit; it starts with the first request. */
export const minuteMs = 60_000

/**
 * Fixed-window counters in memory; the window of each starts with its first count and lasts a minute.
 *
 * No counter is evicted before its window ends, whatever names a client invents. At `countersMax` counters, new names are
 * not counted until old counters expire, after two minutes at most; only a flood creates that many names. A counter
 * takes about 150 bytes.
 */
export class FixedWindowCounters {
  readonly #countersMax: number
  /** Counters started since the last rotation, and those of the minute before it. */
  #current = new Map<string, Minute>()
  #previous = new Map<string, Minute>()
  #rotatedAtMs = Number.NEGATIVE_INFINITY

  constructor(countersMax: number) {
    this.#countersMax = countersMax
  }

  /**
   * Adds to a counter.
   * @param nowMs the current time, epoch milliseconds
   * @param amount at least 1
   */
  add(name: string, nowMs: number, amount = 1): WindowCount {
    const minute = this.#start(name, nowMs)
    minute.count += amount
    return countOf(minute, nowMs)
  }

  /**
   * Adds to a counter, or leaves it unchanged if it would exceed a maximum.
   * @returns the count after it, and whether the amount was added
   */
  addWithin(name: string, nowMs: number, amount: number, max: number): WindowCount & { isAdded: boolean } {
    const minute = this.#start(name, nowMs)
    const isAdded = minute.count + amount <= max
    if (isAdded) minute.count += amount
    return { ...countOf(minute, nowMs), isAdded }
  }

  /** Number of counters, including expired ones that are not yet removed. */
  get size(): number {
    return this.#current.size + this.#previous.size
  }

  /** Finds the running minute of a counter, or starts one. At `countersMax` the new one is not stored. */
  #start(name: string, nowMs: number): Minute {
    this.#rotate(nowMs)
    const running = this.#current.get(name) ?? this.#previous.get(name)
    if (running && !isOver(running.startedAtMs, nowMs)) return running
    const minute = { startedAtMs: nowMs, count: 0 }
    if (this.size < this.#countersMax) this.#current.set(name, minute)
    return minute
  }

  /** Every counter started before the last rotation has expired at the next one. */
  #rotate(nowMs: number): void {
    if (!isOver(this.#rotatedAtMs, nowMs)) return
    this.#previous = this.#current
    this.#current = new Map()
    this.#rotatedAtMs = nowMs
  }
}

function countOf({ count, startedAtMs }: Minute, nowMs: number): WindowCount {
  return { count, endsInMs: startedAtMs + minuteMs - nowMs }
}

/** A clock that was set back ends every window. */
function isOver(startedAtMs: number, nowMs: number): boolean {
  return nowMs - startedAtMs >= minuteMs || nowMs < startedAtMs
}
