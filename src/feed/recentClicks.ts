import { hash } from 'node:crypto'
import type { FeedRow } from './rows.ts'

/** The clicks of 20 s at 10,000 a second. A click takes about 80 bytes. */
const clicksMax = 200_000

/**
 * The clicks that a feed has stored last, between one and two times `clicksMax`. Senders repeat rows soon, and to look up and compare
 * repeated clicks takes ClickHouse more time than to store new ones.
 */
export class RecentClicks {
  /** Digests of the rows as their senders wrote them. */
  #newer = new Set<string>()
  #older = new Set<string>()

  /** @returns whether a row repeats one of them literally */
  has(digest: string): boolean {
    return this.#newer.has(digest) || this.#older.has(digest)
  }

  /** @param digest of a row that is stored, and gives the values of the stored row */
  add(digest: string): void {
    if (this.#newer.size === clicksMax) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(digest)
  }
}

export function digestOf({ bytes }: FeedRow): string {
  return hash('sha256', bytes, 'binary')
}
