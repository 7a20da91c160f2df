import { totalmem } from 'node:os'

/** Limits of the memory of ClickHouse, bytes. */
export interface MemoryLimits {
  /** All queries, merges and caches. */
  server: number
  /** All queries of the reader together. The rest is for the writer, merges and caches. */
  reader: number
  /** One query of the reader: two take all that the reader has. */
  query: number
}

/** More helps no query of the API. */
const queryMax = 4_000_000_000

/** @param server bytes; by default half of what this process may use, since the API and Postgres run beside it */
export function memoryLimits(server: number = Math.floor(availableBytes() / 2)): MemoryLimits {
  const reader = Math.floor(server * 0.6)
  return { server, reader, query: Math.min(queryMax, Math.floor(reader / 2)) }
}

/** The memory of the machine, or of the cgroup of this process; 0 and a number above the memory both say that there is no limit. */
function availableBytes(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
}
