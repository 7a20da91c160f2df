import type { Stores } from '../stores/open.ts'
import type { Lease } from '../stores/postgres/lease.ts'
import type { WriteFence } from './fence.ts'

/** The only process that may write an account's rows while it holds the lease. Made by `openWriter`. */
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
