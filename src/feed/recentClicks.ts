import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { atMost } from '../stores/entryLimit.ts'
import { keyText } from '../writer/tables/accountKeys.ts'
import type { FeedRow } from './rows.ts'

/** The clicks of half a minute at 10,000 a second. A click takes about 150 bytes. */
const clicksMax = 300_000

/**
 * The clicks that a feed has stored last. Senders repeat rows soon, and to look up and compare repeated clicks takes ClickHouse more
 * time than to store new ones.
 */
export class RecentClicks {
  /** Checksums of the rows as their senders wrote them, by key. */
  readonly #checksums = new LRUCache<string, number>(atMost(clicksMax))

  /** @returns whether the row repeats one of them literally */
  has({ resource, value, text }: FeedRow): boolean {
    return resource === 'clicks' && this.#checksums.get(keyText(value)) === crc32(text)
  }

  /** @param row is stored, and gives the values of the stored row */
  add({ resource, value, text }: FeedRow): void {
    if (resource === 'clicks') this.#checksums.set(keyText(value), crc32(text))
  }
}
