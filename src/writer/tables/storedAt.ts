import type { Column } from '../../stores/clickhouse/columnKinds.ts'

/**
 * The last column of clicks and conversions: the time of storage, which is known after the other values, when the batch is recorded
 * in the journal. A row is written with 0 first.
 */
export const storedAtColumn: Column<unknown> = {
  name: 'stored_at',
  type: 'DateTime64(3)',
  write: (out) => out.instant(0),
}
