import { crc32 } from 'node:zlib'
import { streamBytes } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import type { ClaimedAccount } from '../fence/claims.ts'
import type { WriteSession } from '../fence/session.ts'
import { keyOfText } from '../tables/accountKeys.ts'
import { BloomFilter } from './bloomFilter.ts'

/** Keys of rows; each begins with the id of its account and a space. */
export interface StoredKeys {
  /** Names the keys in messages and in ClickHouse's query log. */
  name: string
  /** SELECT of one column `key`: all keys that accounts have. */
  every(accountIds: readonly string[]): Fragment
}

/** `await`: the filter is used once it is complete. `meanwhile`: every key is a candidate until then. */
export type Filling = 'await' | 'meanwhile'

/**
 * Tells which keys may already be stored, without a query: a Bloom filter of the keys of claimed accounts. It never excludes a stored key. The
 * keys of an account are read once, also if the process claims the account again, unless another process has claimed it in between.
 */
export class KeyFilter<Source extends StoredKeys = StoredKeys> {
  protected readonly session: WriteSession
  protected readonly source: Source
  readonly #filling: Filling
  #bloom: BloomFilter | undefined
  /** Accounts whose keys are all in the filter. */
  readonly #complete = new Set<string>()
  readonly #claimNumbers = new Map<string, number>()
  #isReading = false

  constructor(session: WriteSession, source: Source, filling: Filling) {
    this.session = session
    this.source = source
    this.#filling = filling
  }

  /** Call it for each claim of an account before its keys are used, if the process may release accounts. */
  claimed(accounts: Iterable<ClaimedAccount>): void {
    for (const { accountId, claimNumber } of accounts) {
      if (this.#claimNumbers.get(accountId) !== claimNumber - 1) this.#complete.delete(accountId)
      this.#claimNumbers.set(accountId, claimNumber)
    }
  }

  /** Adds keys before their rows are sent: after an attempt of unknown outcome, any of them may be stored. */
  add(keys: Iterable<string>): void {
    if (this.#bloom) for (const key of keys) this.#bloom.add(crc32(key))
  }

  /** @returns the keys that may already be stored */
  candidatesOf(keys: readonly string[]): readonly string[] {
    const bloom = this.#bloom
    if (!bloom) return keys
    return keys.filter((key) => !this.#complete.has(keyOfText(key).accountId) || bloom.mayContain(crc32(key)))
  }

  /**
   * Reads the keys of the accounts that the filter lacks, and of all accounts if the filter is full. One call reads at a time; others
   * return at once. TRAP: call it while no insert of the process can change a row. Rows whose keys are in an earlier Bloom filter only
   * must be visible when the reading begins.
   * @param accountIds claimed ones
   */
  async fill(accountIds: readonly string[]): Promise<void> {
    const isFull = this.#bloom?.hasRoomFor(0) === false
    const lacking = isFull ? accountIds : accountIds.filter((accountId) => !this.#complete.has(accountId))
    if (lacking.length === 0 || this.#isReading) return
    this.#isReading = true
    const makingRoom = this.#makeRoom(lacking)
    const reading = makingRoom
      .then(({ bloom, accounts }) => {
        const read = () => this.#read(bloom, accounts)
        return this.#filling === 'await' ? this.session.retry(`reading the ids of ${this.source.name}`, read) : read()
      })
      .finally(() => {
        this.#isReading = false
      })
    // After a failure, the next call reads the keys again.
    reading.catch(() => {})
    await (this.#filling === 'await' ? reading : makingRoom)
  }

  /** @returns a filter with room for the keys of some accounts, and the accounts to read: all of them for a larger filter */
  async #makeRoom(lacking: readonly string[]): Promise<{ bloom: BloomFilter; accounts: readonly string[] }> {
    const found = await this.#count(lacking)
    if (this.#bloom?.hasRoomFor(found)) return { bloom: this.#bloom, accounts: lacking }
    const accounts = [...new Set([...this.#complete, ...lacking])]
    const bloom = new BloomFilter(accounts.length === lacking.length ? found : await this.#count(accounts))
    this.#complete.clear()
    this.#bloom = bloom
    return { bloom, accounts }
  }

  async #count(accountIds: readonly string[]): Promise<number> {
    const { name } = this.source
    const query = ch`SELECT toFloat64(count()) AS keys FROM (${this.source.every(accountIds)})`
    const [row] = await this.session.select<{ keys: number }>(`counting ${name}`, query, `import.count_${name}`)
    return row?.keys ?? 0
  }

  async #read(bloom: BloomFilter, accountIds: readonly string[]): Promise<void> {
    const query = ch`SELECT CRC32(key) FROM (${this.source.every(accountIds)}) FORMAT RowBinary`
    const options = { label: `import.all_${this.source.name}`, signal: this.session.signal }
    const claimNumbers = accountIds.map((accountId) => this.#claimNumbers.get(accountId))
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of streamBytes(this.session.stores.clickhouse, query, options)) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      const end = bytes.length - (bytes.length % 4)
      for (let at = 0; at < end; at += 4) bloom.add(bytes.readUInt32LE(at))
      rest = bytes.subarray(end)
    }
    for (const [index, accountId] of accountIds.entries()) {
      // Claimed again meanwhile: another process may have stored keys after they were read.
      if (this.#claimNumbers.get(accountId) === claimNumbers[index]) this.#complete.add(accountId)
    }
  }
}
