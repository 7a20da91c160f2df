import type { Column } from '../../stores/clickhouse/columnKinds.ts'

/**
 * The last column of clicks, conversions and costs: the time of storage, which is known after the other values, when the batch is
 * recorded in the journal. A click is written with 0 first.
 */
export const storedAtColumn: Column<unknown> = {
  name: 'stored_at',
  type: 'DateTime64(3)',
  write: (out) => out.instant(0),
}
