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
 * @throws the error of the source
 */
export async function* batchesOf(
  events: Iterable<Event> | AsyncIterable<Event>,
  { batchSize = 1_000, batchMs = 1_000 }: BatchOptions,
): AsyncGenerator<IdentifiedEvent[], void> {
  const source = Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]()
  const encoder = new TextEncoder()
  let batch: IdentifiedEvent[] = []
  let bytes = 0
  let next = Promise.resolve(source.next())
  let timeout = never()
  try {
    for (;;) {
      const result = await Promise.race([next, timeout.expired])
      if (result === 'expired') {
        yield batch
        batch = []
        bytes = 0
        timeout = never()
        continue
      }
      if (result.done) break
      const event = { ...result.value, event_id: result.value.event_id ?? crypto.randomUUID() }
      const size = encoder.encode(JSON.stringify(event)).length + 1
      if (batch.length === batchSize || (batch.length > 0 && bytes + size > bytesMax)) {
        timeout.clear()
        yield batch
        batch = []
        bytes = 0
      }
      if (batch.length === 0) timeout = expireAfter(batchMs)
      batch.push(event)
      bytes += size
      next = Promise.resolve(source.next())
    }
    if (batch.length > 0) yield batch
  } finally {
    timeout.clear()
    await source.return?.()
  }
}

interface Timeout {
  expired: Promise<'expired'>
  clear(): void
}

function never(): Timeout {
  return { expired: new Promise(() => {}), clear() {} }
}

function expireAfter(ms: number): Timeout {
  let timer: ReturnType<typeof setTimeout>
  const expired = new Promise<'expired'>((resolve) => {
    timer = setTimeout(() => resolve('expired'), ms)
  })
  return { expired, clear: () => clearTimeout(timer) }
}
