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
   * Adds one to a counter.
   * @param nowMs the current time, epoch milliseconds
   */
  add(name: string, nowMs: number): WindowCount {
    this.#rotate(nowMs)
    let minute = this.#find(name, nowMs)
    if (!minute) {
      if (this.size >= this.#countersMax) return { count: 1, endsInMs: minuteMs }
      minute = { startedAtMs: nowMs, count: 0 }
      this.#current.set(name, minute)
    }
    minute.count += 1
    return countOf(minute, nowMs)
  }

  /** Number of counters, including expired ones that are not yet removed. */
  get size(): number {
    return this.#current.size + this.#previous.size
  }

  #find(name: string, nowMs: number): Minute | undefined {
    const minute = this.#current.get(name) ?? this.#previous.get(name)
    return minute && !isOver(minute.startedAtMs, nowMs) ? minute : undefined
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
