import { crc32 } from 'node:zlib'
import { streamBytes } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import type { WriteSession } from '../fence/writer.ts'

export interface KeySource {
  name: string
  /** SELECT of one column `key`: all stored keys of the accounts. */
  every: Fragment
  /** SELECT of one column `key`: the stored ones of the given keys. */
  among(keys: readonly string[]): Fragment
}

/** 2^27 bits, 16 MiB: the rate of false positives is 1 % at 12 million stored keys, 10 % at 30 million. */
const filterBits = 27

/** Looking up fewer keys than this is cheaper than reading the whole index. */
const filterFrom = 10_000

/**
 * Finds keys that are already stored. Random ids are scattered over an index, so looking up a batch reads all of it; a Bloom
 * filter, filled from the index at the first large batch, excludes nearly all new keys. Keys that other processes store later are
 * missing in it. During an import only `POST /events` stores any, and its rows with equal keys collapse.
 */
export class ExistingKeys {
  readonly #session: WriteSession
  readonly #source: KeySource
  #filter: Uint32Array | undefined

  constructor(session: WriteSession, source: KeySource) {
    this.#session = session
    this.#source = source
  }

  async findExisting(keys: readonly string[]): Promise<Set<string>> {
    if (!this.#filter && keys.length >= filterFrom) this.#filter = await this.#readAll()
    const filter = this.#filter
    const candidates = filter ? keys.filter((key) => mayContain(filter, crc32(key))) : keys
    if (candidates.length === 0) return new Set()
    const stored = this.#source.among(candidates)
    // Nearly always none or all of them are stored: then the keys need not be listed.
    const [row] = await this.#select<{ found: number }>(ch`SELECT uniqExact(key) AS found FROM (${stored})`)
    if (row?.found === candidates.length) return new Set(candidates)
    if (row?.found === 0) return new Set()
    const rows = await this.#select<{ key: string }>(ch`SELECT DISTINCT key FROM (${stored})`)
    return new Set(rows.map(({ key }) => key))
  }

  add(keys: Iterable<string>): void {
    const filter = this.#filter
    if (filter) for (const key of keys) mark(filter, crc32(key))
  }

  #select<Row>(query: Fragment): Promise<Row[]> {
    const { name } = this.#source
    return this.#session.select<Row>(`looking up ${name}`, query, `import.known_${name}`)
  }

  async #readAll(): Promise<Uint32Array> {
    const { name, every } = this.#source
    const query = ch`SELECT CRC32(key) FROM (${every}) FORMAT RowBinary`
    const options = { label: `import.all_${name}`, signal: this.#session.signal }
    return await this.#session.retry(`reading the ids of ${name}`, async () => {
      const filter = new Uint32Array(2 ** (filterBits - 5))
      let rest: Buffer = Buffer.alloc(0)
      for await (const chunk of streamBytes(this.#session.stores.clickhouse, query, options)) {
        const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
        const end = bytes.length - (bytes.length % 4)
        for (let at = 0; at < end; at += 4) mark(filter, bytes.readUInt32LE(at))
        rest = bytes.subarray(end)
      }
      return filter
    })
  }
}

/** Odd factors of the four hash functions of the filter. */
const hashFactors = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f] as const

function mark(filter: Uint32Array, checksum: number): void {
  for (const factor of hashFactors) {
    const bit = Math.imul(checksum, factor) >>> (32 - filterBits)
    filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }
}

function mayContain(filter: Uint32Array, checksum: number): boolean {
  return hashFactors.every((factor) => {
    const bit = Math.imul(checksum, factor) >>> (32 - filterBits)
    return ((filter[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
  })
}
