/** The count of the current window, and the milliseconds until the window ends. */
export interface WindowCount {
  count: number
  isAdded: boolean
  endsInMs: number
}

type Minute = { startedAtMs: number; count: number }

/** Window of every limit; it starts with the first request. */
export const minuteMs = 60_000

/**
 * Fixed-window counters in memory; the window of each starts with its first count and lasts a minute.
 *
 * Every name is counted, however many names clients invent. A counter is forgotten before its window ends only when
 * at least `countersMax / 2` other names were counted since it was last used. A counter takes about 150 bytes.
 */
export class FixedWindowCounters {
  readonly #countersMax: number
  /** Counters used since the last rotation, and counters used between the two rotations before. */
  #current = new Map<string, Minute>()
  #previous = new Map<string, Minute>()
  #rotatedAtMs = Number.NEGATIVE_INFINITY

  /** @param countersMax maximum number of counters in memory, at least 2 */
  constructor(countersMax: number) {
    this.#countersMax = countersMax
  }

  /**
   * Adds to a counter, or leaves it unchanged if it would exceed a maximum.
   * @param nowMs the current time, epoch milliseconds
   * @param amount at least 1
   */
  add(name: string, nowMs: number, amount = 1, max = Number.POSITIVE_INFINITY): WindowCount {
    const minute = this.#start(name, nowMs)
    const isAdded = minute.count + amount <= max
    if (isAdded) minute.count += amount
    return { count: minute.count, isAdded, endsInMs: minute.startedAtMs + minuteMs - nowMs }
  }

  /** Number of counters in memory, including expired ones; a counter used on both sides of a rotation counts twice. */
  get size(): number {
    return this.#current.size + this.#previous.size
  }

  #start(name: string, nowMs: number): Minute {
    this.#rotate(nowMs)
    const used = this.#current.get(name)
    if (used && !isOver(used.startedAtMs, nowMs)) return used
    const earlier = this.#previous.get(name)
    const minute = earlier && !isOver(earlier.startedAtMs, nowMs) ? earlier : { startedAtMs: nowMs, count: 0 }
    this.#current.set(name, minute)
    return minute
  }

  /** Forgets the counters that were not used since the last rotation: once per minute, or when memory is full. */
  #rotate(nowMs: number): void {
    if (!isOver(this.#rotatedAtMs, nowMs) && this.#current.size < this.#countersMax / 2) return
    this.#previous = this.#current
    this.#current = new Map()
    this.#rotatedAtMs = nowMs
  }
}

/** A clock that was set back ends every window. */
const isOver = (startedAtMs: number, nowMs: number): boolean => nowMs - startedAtMs >= minuteMs || nowMs < startedAtMs
