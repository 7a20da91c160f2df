import { LRUCache } from 'lru-cache'
import { atMost } from './entryLimit.ts'

export interface RefreshingCacheOptions<Request, Value> {
  max: number
  /** From this age on a value is read again in the background. */
  refreshMs: number
  /** From this age on it is read again before it is returned. */
  ttlMs: number
  /** Least time from one background read of a value to the next, when it fails; 0 unless given. */
  retryMs?: number
  now: () => number
  /** The key of a value; the account first. */
  keyOf(request: Request): string
  /** Reads a value. Undefined, for a value that does not exist, is not cached. */
  read(request: Request): Promise<Value | undefined>
}

interface Entry<Value> {
  value: Value | undefined
  /** Start of the read, so that no later change is missed. */
  readAtMs: number
  /** Start of the last read, which may have failed. */
  triedAtMs: number
}

/** Cache that returns a value while reading it again (stale-while-revalidate), once for concurrent requests. */
export class RefreshingCache<Request, Value> {
  readonly #entries: LRUCache<string, Entry<Value>, { request: Request }>
  readonly #options: RefreshingCacheOptions<Request, Value>

  constructor(options: RefreshingCacheOptions<Request, Value>) {
    this.#options = options
    this.#entries = new LRUCache({
      ...atMost(options.max),
      fetchMethod: (_key, entry, { context }) => this.#read(context.request, entry),
      noDeleteOnFetchRejection: true,
      // TRAP: without it, the eviction of a value that is being read fails the requests that wait for it.
      ignoreFetchAbort: true,
    })
  }

  /**
   * Returns a value that is younger than `ttlMs`, undefined when it does not exist.
   * @throws the error of `read` when the value is older; errors of background reads are discarded
   */
  async find(request: Request): Promise<Value | undefined> {
    const key = this.#options.keyOf(request)
    const entry = this.#entries.get(key)
    const isKnown = entry?.value !== undefined
    if (isKnown && !this.#isDue(entry)) return entry.value
    const allowStale = isKnown && this.#ageOf(entry.readAtMs) < this.#options.ttlMs
    const status: LRUCache.Status<string, Entry<Value>, { request: Request }> = {}
    const options = { forceRefresh: true, allowStale, context: { request }, status }
    let found = await this.#entries.fetch(key, options)
    // A read in flight is shared, unless it finds no value: the value may have been created after that read started.
    if (found?.value === undefined && status.fetch === 'inflight') found = await this.#entries.fetch(key, options)
    if (found?.value === undefined && this.#entries.peek(key) === found) this.#entries.delete(key)
    return found?.value
  }

  /** @returns the value if `find` returns it without a read, else undefined */
  peek(request: Request): Value | undefined {
    const entry = this.#entries.get(this.#options.keyOf(request))
    return entry?.value === undefined || this.#isDue(entry) ? undefined : entry.value
  }

  /** Whether a value is read again when it is requested. */
  #isDue({ readAtMs, triedAtMs }: Entry<Value>): boolean {
    const { refreshMs, ttlMs, retryMs = 0 } = this.#options
    const ageMs = this.#ageOf(readAtMs)
    return ageMs >= refreshMs && (ageMs >= ttlMs || this.#ageOf(triedAtMs) >= retryMs)
  }

  /** Infinite when the clock was set back. */
  #ageOf(atMs: number): number {
    const ageMs = this.#options.now() - atMs
    return ageMs >= 0 ? ageMs : Number.POSITIVE_INFINITY
  }

  async #read(request: Request, entry?: Entry<Value>): Promise<Entry<Value>> {
    const readAtMs = this.#options.now()
    if (entry) entry.triedAtMs = readAtMs
    return { value: await this.#options.read(request), readAtMs, triedAtMs: readAtMs }
  }
}
