import type { Event } from './types.ts'

/** Limits of one batch. */
export interface BatchOptions {
  /** Maximum number of events per batch, 1 to 1,000; default 1,000. */
  batchSize?: number
  /** A batch is sent at the latest this long after its first event; default 1,000 milliseconds. */
  batchMs?: number
}

/** An event with its id. */
export type IdentifiedEvent = Event & { event_id: string }

/** Size of a batch as JSON; the API accepts 4 MiB. */
const bytesMax = 3_500_000

/**
 * Groups events into batches by number, size and time. An event without `event_id` gets a generated one.
 * @param signal ends the wait for the next event
 * @throws the error of the source, or the reason of `signal`
 */
export async function* batchEvents(
  events: Iterable<Event> | AsyncIterable<Event>,
  { batchSize = 1_000, batchMs = 1_000, signal }: BatchOptions & { signal?: AbortSignal },
): AsyncGenerator<IdentifiedEvent[], void> {
  const source = Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]()
  const encoder = new TextEncoder()
  const batch: IdentifiedEvent[] = []
  let bytes = 0
  // One per batch: a promise that is raced for every event keeps a reaction for each of them.
  let timeout = openTimeout(undefined, signal)
  const restart = (ms: number | undefined) => {
    timeout.clear()
    timeout = openTimeout(ms, signal)
  }
  const take = () => {
    restart(undefined)
    bytes = 0
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
      const event = { ...result.value, event_id: result.value.event_id ?? crypto.randomUUID() }
      const size = encoder.encode(JSON.stringify(event)).length + 1
      if (batch.length === batchSize || (batch.length > 0 && bytes + size > bytesMax)) yield take()
      if (batch.length === 0) restart(batchMs)
      batch.push(event)
      bytes += size
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

/**
 * @param ms undefined: it does not expire
 * @returns `expired`, which rejects with the reason of the signal when that aborts
 */
function openTimeout(ms: number | undefined, signal: AbortSignal | undefined) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort = () => {}
  const expired = new Promise<'expired'>((resolve, reject) => {
    abort = () => reject(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort)
    if (ms !== undefined) timer = setTimeout(() => resolve('expired'), ms)
  })
  // Nothing awaits it while a batch is sent.
  expired.catch(() => {})
  return {
    expired,
    clear() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}
