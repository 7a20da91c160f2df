import { columnsOf, type RowOf } from '../../stores/clickhouse/columnKinds.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'

/** The columns of `clicks` that are written; other columns have defaults. */
export const clickRowFields = { accountId: 'id', ...clickFields } as const

export type Click = RowOf<typeof clickRowFields>

export const insertedClickColumns = columnsOf(clickRowFields)
