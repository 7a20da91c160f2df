import { openTimeout } from './timeout.ts'

/** Limits of one batch. */
export interface BatchOptions {
  /** Maximum number of items per batch; by default, and at most, what the server takes: 1,000 events or 10,000 rows. */
  batchSize?: number
  /** A batch is sent at the latest this long after its first item; default 1,000 milliseconds. */
  batchMs?: number
}

/** An item as it is sent. */
export interface Weighed<Item> {
  item: Item
  bytes: number
  /** Commas, colons and brackets outside texts of its JSON. */
  marks: number
}

/** What a batch has at most. */
export type BatchLimits = { items: number; bytes: number; marks: number }

/**
 * Groups items into batches by number, size and time. An item that alone exceeds a limit is a batch.
 * @param weigh reads a given value
 * @param signal ends the wait for the next item
 * @throws the error of the source or of `weigh`, or the reason of `signal`
 */
export async function* inBatches<Given, Item>(
  given: Iterable<Given> | AsyncIterable<Given>,
  weigh: (value: Given) => Weighed<Item>,
  max: BatchLimits,
  { batchSize = max.items, batchMs = 1_000, signal }: BatchOptions & { signal?: AbortSignal | undefined },
): AsyncGenerator<Item[], void> {
  const source = Symbol.asyncIterator in given ? given[Symbol.asyncIterator]() : given[Symbol.iterator]()
  const itemsMax = Math.min(batchSize, max.items)
  const batch: Item[] = []
  let bytes = 0
  let marks = 0
  // One per batch: a promise that is raced for every item keeps a reaction for each of them.
  let timeout = openTimeout(undefined, signal)
  const restart = (ms: number | undefined) => {
    timeout.clear()
    timeout = openTimeout(ms, signal)
  }
  const take = () => {
    restart(undefined)
    bytes = 0
    marks = 0
    return batch.splice(0)
  }
  let isPending = true
  let next = Promise.resolve(source.next())
  try {
    for (;;) {
      const result = await Promise.race([next, timeout.expired])
      if (result === 'expired') {
        yield take()
        continue
      }
      isPending = false
      if (result.done) break
      const one = weigh(result.value)
      const isFull = batch.length >= itemsMax || bytes + one.bytes > max.bytes || marks + one.marks > max.marks
      if (isFull && batch.length > 0) yield take()
      if (batch.length === 0) restart(batchMs)
      batch.push(one.item)
      bytes += one.bytes
      marks += one.marks
      isPending = true
      next = Promise.resolve(source.next())
    }
    if (batch.length > 0) yield batch
  } finally {
    timeout.clear()
    const returned = Promise.resolve(source.return?.())
    // An async generator returns only after its pending `next`, which may never be settled.
    if (isPending) returned.catch(() => {})
    else await returned
  }
}
