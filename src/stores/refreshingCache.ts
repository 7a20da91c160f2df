import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { atMost } from './entryLimit.ts'

/** Ages of values, milliseconds, named like in HTTP. */
export interface RefreshingCacheOptions<Request, Value> {
  /** Most values, with the values that are being read. */
  max: number
  /** Age until which a value is returned without a read. */
  freshMs: number
  /** For this time after `freshMs` a value is returned while it is read again. */
  staleWhileRevalidateMs: number
  /** For this time after `freshMs` a value is returned if reading it fails with a Problem. */
  staleIfErrorMs: number
  /** Whether reads are expected to fail, by default not: a value is then returned for `staleIfErrorMs` while it is read again. */
  isFailing?: () => boolean
  /** Least time from one read of a value that is returned meanwhile to the next, when it fails. */
  retryMs: number
  now: () => number
  /** The key of a value; the account first. */
  keyOf(request: Request): string
  /**
   * Reads a value. Undefined, for a value that does not exist, is not cached.
   * @param known the present value, which is too old
   */
  read(request: Request, known: Value | undefined): Promise<Value | undefined>
}

interface Entry<Value> {
  value: Value | undefined
  /** Start of the read, so that no later change is missed. */
  readAtMs: number
  /** Start of the last read, which may have failed. */
  triedAtMs: number
}

/** Cache that returns a value while reading it again, once for concurrent requests. */
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
   * Finds a value, undefined when it does not exist.
   * @throws the error of `read` when no value may be returned instead; other errors are discarded
   */
  async find(request: Request): Promise<Value | undefined> {
    const key = this.#options.keyOf(request)
    const entry = this.#entries.get(key)
    const use = entry?.value === undefined ? 'read' : this.#useOf(entry)
    if (use === 'return') return entry?.value
    const status: LRUCache.Status<string, Entry<Value>, { request: Request }> = {}
    const options = { forceRefresh: true, allowStale: use === 'return and read', context: { request }, status }
    try {
      let found = await this.#entries.fetch(key, options)
      // A read in flight is shared, unless it finds no value: the value may have been created after that read started.
      if (found?.value === undefined && status.fetch === 'inflight') found = await this.#entries.fetch(key, options)
      if (found?.value === undefined && this.#entries.peek(key) === found) this.#entries.delete(key)
      return found?.value
    } catch (error) {
      const isUsable = entry && error instanceof Problem && this.#staleMsOf(entry) < this.#options.staleIfErrorMs
      if (isUsable && entry.value !== undefined) return entry.value
      throw error
    }
  }

  /** @returns the value if `find` returns it without a read, else undefined */
  peek(request: Request): Value | undefined {
    const entry = this.#entries.get(this.#options.keyOf(request))
    return entry && this.#useOf(entry) === 'return' ? entry.value : undefined
  }

  /** Has a value read again before it is returned, or all values. If that fails, `staleIfErrorMs` applies as before. */
  expire(key?: string): void {
    const { freshMs, staleWhileRevalidateMs, now } = this.#options
    const readAtMs = now() - freshMs - staleWhileRevalidateMs
    const entries = key === undefined ? this.#entries.values() : [this.#entries.peek(key)]
    for (const entry of entries) if (entry) entry.readAtMs = Math.min(entry.readAtMs, readAtMs)
  }

  /** What `find` does with a value that it knows. */
  #useOf(entry: Entry<Value>): 'return' | 'return and read' | 'read' {
    const { staleWhileRevalidateMs, staleIfErrorMs, isFailing, retryMs, now } = this.#options
    const staleMs = this.#staleMsOf(entry)
    if (staleMs < 0) return 'return'
    if (staleMs >= staleWhileRevalidateMs && (staleMs >= staleIfErrorMs || !isFailing?.())) return 'read'
    return Math.abs(now() - entry.triedAtMs) < retryMs ? 'return' : 'return and read'
  }

  /** For how long a value has not been fresh; infinite when the clock was set back. */
  #staleMsOf({ readAtMs }: Entry<Value>): number {
    const ageMs = this.#options.now() - readAtMs
    return ageMs >= 0 ? ageMs - this.#options.freshMs : Number.POSITIVE_INFINITY
  }

  async #read(request: Request, entry?: Entry<Value>): Promise<Entry<Value>> {
    const readAtMs = this.#options.now()
    if (entry) entry.triedAtMs = readAtMs
    return { value: await this.#options.read(request, entry?.value), readAtMs, triedAtMs: readAtMs }
  }
}
