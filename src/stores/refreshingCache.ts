import { LRUCache } from 'lru-cache'

export interface RefreshingCacheOptions<Request, Value> {
  max: number
  /** From this age on a value is read again in the background. */
  refreshMs: number
  /** From this age on it is read again before it is returned. */
  ttlMs: number
  /** Shares the first read of a value among concurrent requests; only for values that always exist. */
  sharesFirstRead?: boolean
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
  /** Reads in flight of values that are not cached. */
  readonly #firstReads = new Map<string, Promise<Entry<Value>>>()

  constructor(options: RefreshingCacheOptions<Request, Value>) {
    this.#options = options
    this.#entries = new LRUCache({
      max: options.max,
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
    const { keyOf, ttlMs, sharesFirstRead } = this.#options
    const key = keyOf(request)
    const entry = this.#entries.get(key)
    if (entry?.value === undefined) {
      if (!sharesFirstRead) return await this.#add(key, request)
      return (await this.#entries.fetch(key, { context: { request } }))?.value
    }
    if (!this.#isDue(entry)) return entry.value
    const ageMs = this.#ageOf(entry.readAtMs)
    const found = await this.#entries.fetch(key, {
      forceRefresh: true,
      allowStale: ageMs < ttlMs,
      context: { request },
    })
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

  /** Shares a read in flight, unless it finds no value: the value may have been created after that read started. */
  async #add(key: string, request: Request): Promise<Value | undefined> {
    const inFlight = this.#firstReads.get(key)
    const shared = inFlight && (await inFlight)
    if (shared?.value !== undefined) return shared.value
    const read = this.#read(request)
    this.#firstReads.set(key, read)
    const entry = await read.finally(() => {
      if (this.#firstReads.get(key) === read) this.#firstReads.delete(key)
    })
    if (entry.value === undefined) this.#entries.delete(key)
    else this.#entries.set(key, entry)
    return entry.value
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
