/** Bits per key from which a filter is made: 16 to 32. */
const bitsPerKey = 16

/** With fewer bits per key the filter is full: it finds 2 % of other checksums. */
const bitsPerKeyMin = 8

/**
 * Sizes as powers of two of bits: 16 MiB to 256 MiB, from 67 million keys on. Other keys are found more and more often beyond that: 3 %
 * with 134 million keys, most of them since they have the checksum of a key, 18 % with 440 million, half with a billion.
 */
const sizes = { least: 27, most: 31 }

/** Odd factors of the four hash functions. */
const hashFactors = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f] as const

/** A set of CRC-32 checksums that takes constant memory. `mayContain` is true for each added one, and for few others. */
export class BloomFilter {
  readonly #words: Uint32Array
  readonly #bits: number
  /** Bits that are 1; they tell how many keys there are, each counted once. */
  #ones = 0

  /** @param keys number of keys to come soon */
  constructor(keys: number) {
    this.#bits = Math.min(Math.max(Math.ceil(Math.log2(keys * bitsPerKey)), sizes.least), sizes.most)
    this.#words = new Uint32Array(2 ** (this.#bits - 5))
  }

  /** @returns false if a larger filter is better before keys are added */
  hasRoomFor(keys: number): boolean {
    const all = 2 ** this.#bits
    const added = (-Math.log1p(-this.#ones / all) * all) / hashFactors.length
    return this.#bits === sizes.most || (added + keys) * bitsPerKeyMin <= all
  }

  add(checksum: number): void {
    for (const factor of hashFactors) {
      const bit = Math.imul(checksum, factor) >>> (32 - this.#bits)
      const word = this.#words[bit >>> 5] ?? 0
      const mask = 1 << (bit & 31)
      if (word & mask) continue
      this.#words[bit >>> 5] = word | mask
      this.#ones += 1
    }
  }

  mayContain(checksum: number): boolean {
    return hashFactors.every((factor) => {
      const bit = Math.imul(checksum, factor) >>> (32 - this.#bits)
      return ((this.#words[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
    })
  }
}
