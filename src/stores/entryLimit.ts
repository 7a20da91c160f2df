/**
 * Options of an LRU cache of at most `count` entries, whose memory grows with them. The option `max` of lru-cache allocates
 * the memory of all entries at once, which delays each start of a server.
 */
export function atMost(count: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: count, sizeCalculation: () => 1 }
}
