import { columnsOf, type RowOf } from '../../stores/clickhouse/columnKinds.ts'
import { pixelEventFields } from '../../stores/clickhouse/tableColumns.ts'

/** The columns of `pixel_events` that are written; other columns have defaults. */
export const pixelEventRowFields = { accountId: 'id', ...pixelEventFields } as const

export type PixelEvent = RowOf<typeof pixelEventRowFields>

export const pixelEventColumns = columnsOf(pixelEventRowFields)

/** An event of a server is sent to ClickHouse within this time after it was received, or refused. */
export const sentWithinMs = 10_000
