import type { ColumnKind, RowOf } from '../../stores/clickhouse/columnKinds.ts'
import { costFields } from '../../stores/clickhouse/tableColumns.ts'
import { importedFields, versionFields } from './changingFields.ts'

/** The columns of `costs` that are written; other columns have defaults. */
export const costRowFields = {
  accountId: 'id',
  ...costFields,
  ...importedFields,
  ...versionFields,
} as const satisfies Record<string, ColumnKind>

export type Cost = RowOf<typeof costRowFields>
