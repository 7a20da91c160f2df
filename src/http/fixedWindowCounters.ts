/** How often something was counted in its minute, and in how many milliseconds that minute ends. */
export interface Counted {
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
export class MinuteCounters {
  readonly #countersMax: number
  /** Counters begun in the present span of a minute, and in the one before it. */
  #young = new Map<string, Minute>()
  #old = new Map<string, Minute>()
  #turnedAtMs = Number.NEGATIVE_INFINITY

  constructor(countersMax: number) {
    this.#countersMax = countersMax
  }

  /**
   * Counts one.
   * @param nowMs the present moment, epoch milliseconds
   */
  add(name: string, nowMs: number): Counted {
    this.#turn(nowMs)
    let minute = this.#find(name, nowMs)
    if (!minute) {
      if (this.size >= this.#countersMax) return { count: 1, endsInMs: minuteMs }
      minute = { startedAtMs: nowMs, count: 0 }
      this.#young.set(name, minute)
    }
    minute.count += 1
    return toCounted(minute, nowMs)
  }

  /** How many counters there are, those of minutes just over included. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  #find(name: string, nowMs: number): Minute | undefined {
    const minute = this.#young.get(name) ?? this.#old.get(name)
    return minute && !isOver(minute.startedAtMs, nowMs) ? minute : undefined
  }

  /** A counter that was begun before the last turn is over at the next one. */
  #turn(nowMs: number): void {
    if (!isOver(this.#turnedAtMs, nowMs)) return
    this.#old = this.#young
    this.#young = new Map()
    this.#turnedAtMs = nowMs
  }
}

function toCounted({ count, startedAtMs }: Minute, nowMs: number): Counted {
  return { count, endsInMs: startedAtMs + minuteMs - nowMs }
}

/** A clock that was set back ends every minute. */
function isOver(startedAtMs: number, nowMs: number): boolean {
  return nowMs - startedAtMs >= minuteMs || nowMs < startedAtMs
}
