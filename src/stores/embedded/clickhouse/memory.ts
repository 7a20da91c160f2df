import { totalmem } from 'node:os'

export type MemoryLimits = ReturnType<typeof memoryLimits>

/** More helps no query of the API. */
const queryMax = 4_000_000_000

/**
 * Limits of the memory of ClickHouse, bytes.
 * @param server all queries, merges and caches; by default half of what this process may use, since the API and Postgres run beside it
 * @returns `reader` limits all queries of the reader together, `query` one of them: two take all that the reader has
 */
export function memoryLimits(server: number = Math.floor(availableBytes() / 2)) {
  // The rest is for the writer, merges and caches.
  const reader = Math.floor(server * 0.6)
  return { server, reader, query: Math.min(queryMax, Math.floor(reader / 2)) }
}

/** The memory of the machine, or of the cgroup of this process; 0 and a number above the memory both say that there is no limit. */
const availableBytes = (): number => Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
