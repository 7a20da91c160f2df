/** How often something was counted in its minute, and in how many milliseconds that minute ends. */
export interface WindowCount {
  count: number
  endsInMs: number
}

interface Minute {
  startedAtMs: number
  count: number
}

/** The span of every limit. It begins with the first request in it. */
export const minuteMs = 60_000

/**
 * Counters in this process's memory, each for a minute from the first count in it.
 *
 * Nothing is pushed out to make room: a counter lives as long as its minute, whatever names a caller invents. When there
 * are `countersMax`, new names are not counted until old ones are over, which is at most two minutes; that many come
 * only from a flood whose single names do not matter. One takes some 150 bytes.
 */
export class FixedWindowCounters {
  readonly #countersMax: number
  /** Counters begun in the present span of a minute, and in the one before it. */
  #current = new Map<string, Minute>()
  #previous = new Map<string, Minute>()
  #rotatedAtMs = Number.NEGATIVE_INFINITY

  constructor(countersMax: number) {
    this.#countersMax = countersMax
  }

  /**
   * Counts one.
   * @param nowMs the present moment, epoch milliseconds
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
    return toCounted(minute, nowMs)
  }

  /** How many counters there are, those of minutes just over included. */
  get size(): number {
    return this.#current.size + this.#previous.size
  }

  #find(name: string, nowMs: number): Minute | undefined {
    const minute = this.#current.get(name) ?? this.#previous.get(name)
    return minute && !isOver(minute.startedAtMs, nowMs) ? minute : undefined
  }

  /** A counter that was begun before the last turn is over at the next one. */
  #rotate(nowMs: number): void {
    if (!isOver(this.#rotatedAtMs, nowMs)) return
    this.#previous = this.#current
    this.#current = new Map()
    this.#rotatedAtMs = nowMs
  }
}

function toCounted({ count, startedAtMs }: Minute, nowMs: number): WindowCount {
  return { count, endsInMs: startedAtMs + minuteMs - nowMs }
}

/** A clock that was set back ends every minute. */
function isOver(startedAtMs: number, nowMs: number): boolean {
  return nowMs - startedAtMs >= minuteMs || nowMs < startedAtMs
}
