import { columnsOf, type RowOf } from '../../stores/clickhouse/columnKinds.ts'
import { pixelEventFields } from '../../stores/clickhouse/tableColumns.ts'

/** The columns of `pixel_events` that are written; other columns have defaults. */
export const pixelEventRowFields = { accountId: 'id', ...pixelEventFields } as const

export type PixelEvent = RowOf<typeof pixelEventRowFields>

export const pixelEventColumns = columnsOf(pixelEventRowFields)

/** A server sends an event to ClickHouse within this time after it has received the event, or responds 503. */
export const sentWithinMs = 10_000
