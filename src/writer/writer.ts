import type { Stores } from '../stores/open.ts'
import type { Lease } from '../stores/postgres/lease.ts'
import type { WriteFence } from './fence.ts'

/** The one who may write an account's rows, at a time when nobody else does. Made by `openWriter`. */
export interface Writer {
  readonly stores: Pick<Stores, 'clickhouse' | 'postgres'>
  readonly accountId: string
  readonly lease: Lease
  /** Every statement that must not meet those of another writer goes through it. */
  readonly fence: WriteFence
  /** Aborts when the lease is lost or the person at the terminal has had enough. */
  readonly signal: AbortSignal
  /** A line for whoever watches. */
  onMessage(line: string): void
  /** Lets the next one in. */
  close(): Promise<void>
}
