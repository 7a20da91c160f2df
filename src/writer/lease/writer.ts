import type { Stores } from '../../stores/open.ts'
import type { Lease } from '../../stores/postgres/lease.ts'
import type { WriteFence } from './fence.ts'

/**
 * The right to write an account's rows, and what writing needs; held by one process at a time. Opened by `openWriter`.
 */
export interface Writer {
  readonly stores: Pick<Stores, 'clickhouse' | 'postgres'>
  readonly accountId: string
  readonly lease: Lease
  /** Sends every statement that must not overlap with those of another writer. */
  readonly fence: WriteFence
  /** Aborts when the lease is lost or the user interrupts the command. */
  readonly signal: AbortSignal
  /** Receives progress messages, one line each. */
  onMessage(line: string): void
  /** Releases the lease. */
  close(): Promise<void>
}
