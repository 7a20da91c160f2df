export interface BatchTimingOptions {
  itemsMax: number
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
  gather?: { quietMs: number; mostMs: number; mostMsPerItem: number; beside: { items: number; mostMs: number } }
}

/** Queued items, running batches, and when the last item was queued, by the monotonic clock. */
type PresentBatches = Readonly<Record<'queued' | 'running' | 'addedAtMs', number>>

/**
 * Decides when the next batch starts. An example: clients A and B send one item after the other, a batch takes 20 ms, two may run, a
 * turn of the event loop takes 1 ms, and `gather` is `{ quietMs: 5, mostMs: 30, mostMsPerItem: 0, beside: { items: 10, mostMs: 100 } }`.
 *
 * | ms | what happens                                                                       | batch that starts |
 * | -- | ---------------------------------------------------------------------------------- | ----------------- |
 * | 0  | A sends. No batch runs, and one item is expected                                    | A                 |
 * | 10 | B sends. Beside the running batch, B waits for 10 items or 100 ms: checked every 5 ms |                 |
 * | 20 | A gets its response. Two items are expected: the batch had one, the queue has one   |                   |
 * | 21 | A sends                                                                             |                   |
 * | 22 | a check finds two items                                                             | B, A              |
 * | 42 | A and B get their responses. Two items are expected                                 |                   |
 * | 43 | A and B send                                                                        |                   |
 * | 44 | a check finds two items: A and B now share their batches                            | A, B              |
 * | 64 | A and B get their responses. B has no more items                                    |                   |
 * | 65 | A sends. Two items are expected                                                     |                   |
 * | 72 | a check finds that no item was added for 5 ms. The next batch will expect one item  | A                 |
 *
 * With `pace: { starts: 3, withinMs: 120 }` the fourth batch starts at 120 ms.
 */
export function openBatchTiming({ itemsMax, pace, gather }: BatchTimingOptions, batches: PresentBatches) {
  /** Start of the current window of `pace`, and the number of batches started in it. */
  let windowAtMs = Number.NEGATIVE_INFINITY
  let startsInWindow = 0
  /** When the results of the last batch were delivered, and how many items may follow it. */
  let respondedAtMs = 0
  let expected = 1

  /** @param sinceMs when the batch could have started */
  function startOnceGathered(start: () => void, sinceMs = performance.now()): void {
    if (!gather || isGathered(gather, sinceMs)) {
      countStart()
      start()
      // Sockets are read between the timer and the check.
    } else setTimeout(() => setImmediate(() => startOnceGathered(start, sinceMs)), gather.quietMs)
  }

  function isGathered({ quietMs, mostMs, mostMsPerItem, beside }: NonNullable<typeof gather>, sinceMs: number) {
    const { queued, running, addedAtMs } = batches
    const nowMs = performance.now()
    if (queued >= itemsMax) return true
    if (running > 0) return queued >= beside.items || nowMs - sinceMs >= beside.mostMs
    if (queued >= expected) return true
    if (nowMs - Math.max(addedAtMs, respondedAtMs) >= quietMs) return true
    return nowMs - Math.max(sinceMs, respondedAtMs) >= mostMs + mostMsPerItem * expected
  }

  function countStart(): void {
    if (!pace) return
    const nextAtMs = windowAtMs + pace.withinMs
    const nowMs = performance.now()
    if (nowMs >= nextAtMs || startsInWindow === pace.starts) {
      // TRAP: a timer may fire a little early; the window does not start earlier.
      windowAtMs = Math.max(nowMs, nextAtMs)
      startsInWindow = 0
    }
    startsInWindow += 1
  }

  return {
    /** Calls `start` once, when the next batch may start. Call it when an item is queued, and not again before `start` is called. */
    schedule(start: () => void): void {
      const isFull = pace && startsInWindow >= pace.starts
      const pauseMs = isFull ? windowAtMs + pace.withinMs - performance.now() : 0
      // Even without a pause, the batch includes all calls that are being read from sockets now.
      if (pauseMs > 0) setTimeout(() => startOnceGathered(start), pauseMs)
      else setImmediate(() => startOnceGathered(start))
    },
    /** @param items of the batch */
    batchEnded(items: number): void {
      // TRAP: a thousand responses take 30 ms to write. No call can arrive in that time, so it is not quiet time.
      respondedAtMs = Number.POSITIVE_INFINITY
      setImmediate(() => {
        respondedAtMs = performance.now()
      })
      expected = items + batches.queued
    },
  }
}
