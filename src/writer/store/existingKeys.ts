import { crc32 } from 'node:zlib'
import { batchTimeout, selectBytes, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../writer.ts'

/** Where the keys of rows that are stored can be found. */
export interface KeySource {
  /** Names the table in messages and logs. */
  name: string
  /** SELECT of one column `key`: every key of the account that is stored. */
  every: Fragment
  /** SELECT of one column `key`: those of the given ones that are stored, and no others. */
  among(keys: readonly string[]): Fragment
}

/** 2^27 bits, 16 MiB: of new keys one in a hundred passes by mistake at 12 million stored ones, one in ten at 30 million. */
const filterBits = 27

/** Asking the index for fewer keys than this is cheaper than reading all of it. */
const filterFrom = 10_000

/**
 * Tells which keys are stored already. Random ids lie all over an index, so asking for a batch of them reads all of it;
 * a filter in memory answers "certainly not" for nearly all that are new, and the index is asked for the rest only. The
 * filter is filled from the index when a batch is large enough to be worth it. Nobody else may write meanwhile.
 */
export class ExistingKeys {
  readonly #writer: Writer
  readonly #source: KeySource
  #filter: Uint32Array | undefined

  constructor(writer: Writer, source: KeySource) {
    this.#writer = writer
    this.#source = source
  }

  /** @returns those of the keys that are stored */
  async findExisting(keys: readonly string[]): Promise<Set<string>> {
    if (!this.#filter && keys.length >= filterFrom) this.#filter = await this.#readAll()
    const filter = this.#filter
    const asked = filter ? keys.filter((key) => mayContain(filter, crc32(key))) : keys
    if (asked.length === 0) return new Set()
    const stored = this.#source.among(asked)
    // Nearly always none of them are stored, or all: then there is nothing to be listed.
    const [row] = await this.#select<{ known: number }>(ch`SELECT uniqExact(key) AS known FROM (${stored})`)
    if (row?.known === asked.length) return new Set(asked)
    if (row?.known === 0) return new Set()
    const rows = await this.#select<{ key: string }>(ch`SELECT DISTINCT key FROM (${stored})`)
    return new Set(rows.map(({ key }) => key))
  }

  /** Adds keys that have just been stored. */
  add(keys: Iterable<string>): void {
    const filter = this.#filter
    if (filter) for (const key of keys) mark(filter, crc32(key))
  }

  #select<Row>(question: Fragment): Promise<Row[]> {
    const { clickhouse } = this.#writer.stores
    const { name } = this.#source
    const attempt = () => selectRows<Row>(clickhouse, question, { label: `import.known_${name}` })
    return retryWhileUnavailable(`looking up ${name}`, attempt, this.#writer)
  }

  async #readAll(): Promise<Uint32Array> {
    const { name, every } = this.#source
    const question = ch`SELECT CRC32(key) FROM (${every}) FORMAT RowBinary`
    const asking = { label: `import.all_${name}`, ...batchTimeout }
    return await retryWhileUnavailable(
      `reading the ids of ${name}`,
      async () => {
        const filter = new Uint32Array(2 ** (filterBits - 5))
        let rest: Buffer = Buffer.alloc(0)
        for await (const chunk of selectBytes(this.#writer.stores.clickhouse, question, asking)) {
          const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
          const end = bytes.length - (bytes.length % 4)
          for (let at = 0; at < end; at += 4) mark(filter, bytes.readUInt32LE(at))
          rest = bytes.subarray(end)
        }
        return filter
      },
      this.#writer,
    )
  }
}

/** Odd factors that spread a checksum over the filter in four independent ways. */
const spreads = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f] as const

function mark(filter: Uint32Array, checksum: number): void {
  for (const spread of spreads) {
    const bit = Math.imul(checksum, spread) >>> (32 - filterBits)
    filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }
}

function mayContain(filter: Uint32Array, checksum: number): boolean {
  return spreads.every((spread) => {
    const bit = Math.imul(checksum, spread) >>> (32 - filterBits)
    return ((filter[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
  })
}
