/** What is left of a click's or visitor's minute. */
export interface Budget {
  limit: number
  /** Events that may still come. */
  remaining: number
  /** Whole seconds until the minute ends, at least 1. */
  resetS: number
  /** Whether this event was one too many. */
  isExceeded: boolean
}

interface Minute {
  startedAtMs: number
  used: number
}

const minuteMs = 60_000

/**
 * Counts events by click or visitor. A minute begins with the first event in it.
 *
 * Nothing is pushed out to make room: a counter lives as long as its minute, however many identifiers a caller invents.
 * What bounds the memory is the limit of the key, which comes first: a key makes at most as many counters in a minute
 * as it may send events, some 150 bytes each, and they are gone after two.
 */
export class IdentifierLimit {
  /** Counters begun in the present span of a minute, and in the one before it. */
  #young = new Map<string, Minute>()
  #old = new Map<string, Minute>()
  #turnedAtMs = Number.NEGATIVE_INFINITY

  /**
   * Counts one event.
   * @param identifier of a click or a visitor, with its account
   * @param perMinute events a minute, at least 1
   * @param nowMs the present moment, epoch milliseconds
   */
  count(identifier: string, perMinute: number, nowMs: number): Budget {
    this.#turn(nowMs)
    let minute = this.#young.get(identifier) ?? this.#old.get(identifier)
    if (!minute || isOver(minute.startedAtMs, nowMs)) {
      minute = { startedAtMs: nowMs, used: 0 }
      this.#young.set(identifier, minute)
    }
    minute.used += 1
    return {
      limit: perMinute,
      remaining: Math.max(0, perMinute - minute.used),
      resetS: Math.max(1, Math.ceil((minute.startedAtMs + minuteMs - nowMs) / 1000)),
      isExceeded: minute.used > perMinute,
    }
  }

  /** A counter that was begun before the last turn is over at the next one. */
  #turn(nowMs: number): void {
    if (!isOver(this.#turnedAtMs, nowMs)) return
    this.#old = this.#young
    this.#young = new Map()
    this.#turnedAtMs = nowMs
  }
}

/** A clock that was set back ends every minute. */
function isOver(startedAtMs: number, nowMs: number): boolean {
  return nowMs - startedAtMs >= minuteMs || nowMs < startedAtMs
}
