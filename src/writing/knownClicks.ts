import { crc32 } from 'node:zlib'
import { ch, type Fragment, join, text, texts } from '../sql/fragment.ts'
import { selectBytes, selectRows } from '../sql/rows.ts'
import { whileItWorks } from '../sql/write.ts'
import { untilAnswered } from './patience.ts'
import type { Writer } from './writer.ts'

/** 2^28 bits, 32 MiB: one id in a hundred passes by mistake at 25 million ids, one in ten at 60 million. */
const filterBits = 28

/** Asking the index for fewer ids than this is cheaper than reading all of it. */
const filterFrom = 10_000

/** ClickHouse refuses a form field above 128 KiB; an id has at most 64 bytes, and quotes and a comma. */
const idsPerParameter = 1_800

/**
 * Tells which click ids of the account are stored already. Random ids lie all over the index, so asking for a batch of
 * them reads all of it; a filter in memory answers "certainly not" for nearly all that are new, and the index is asked
 * for the rest only. The filter is filled from the index when a batch is large enough to be worth it.
 */
export class KnownClicks {
  readonly #writer: Writer
  #filter: Uint32Array | undefined

  constructor(writer: Writer) {
    this.#writer = writer
  }

  /** @returns those of the ids that are stored */
  async storedAmong(ids: readonly string[]): Promise<Set<string>> {
    if (!this.#filter && ids.length >= filterFrom) this.#filter = await this.#readIndex()
    const filter = this.#filter
    const asked = filter ? ids.filter((id) => mayHold(filter, crc32(id))) : ids
    return asked.length === 0 ? new Set() : await this.#ask(asked)
  }

  /** Adds ids that have just been stored. */
  add(ids: Iterable<string>): void {
    const filter = this.#filter
    if (filter) for (const id of ids) mark(filter, crc32(id))
  }

  async #ask(ids: readonly string[]): Promise<Set<string>> {
    const { stores, accountId } = this.#writer
    const chunks: Fragment[] = []
    for (let first = 0; first < ids.length; first += idsPerParameter) {
      chunks.push(ch`${texts(ids.slice(first, first + idsPerParameter))}`)
    }
    const rows = await untilAnswered(
      'looking up clicks',
      () =>
        selectRows<{ id: string }>(
          stores.clickhouse,
          ch`
SELECT DISTINCT id
FROM click_index
WHERE account_id = ${text(accountId)}
  AND id IN (SELECT arrayJoin(arrayConcat(${join(chunks, ', ')})))`,
          { label: 'import.known_clicks' },
        ),
      this.#writer,
    )
    return new Set(rows.map(({ id }) => id))
  }

  async #readIndex(): Promise<Uint32Array> {
    const { stores, accountId } = this.#writer
    const question = ch`SELECT CRC32(id) FROM click_index WHERE account_id = ${text(accountId)} FORMAT RowBinary`
    const asking = { label: 'import.click_index', settings: { max_execution_time: 600, ...whileItWorks } }
    return await untilAnswered(
      'reading the index of clicks',
      async () => {
        const filter = new Uint32Array(2 ** (filterBits - 5))
        let rest: Buffer = Buffer.alloc(0)
        for await (const chunk of selectBytes(stores.clickhouse, question, asking)) {
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

function mayHold(filter: Uint32Array, checksum: number): boolean {
  return spreads.every((spread) => {
    const bit = Math.imul(checksum, spread) >>> (32 - filterBits)
    return ((filter[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
  })
}
