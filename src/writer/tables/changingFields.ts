import type { ColumnKind } from '../../stores/clickhouse/columnKinds.ts'

/** Fields that no response has and that decide between rows with equal `updatedAt`. */
export const importedFields = {
  /** Fingerprint of its file, or a random id of the feed. */
  importFile: 'text',
  /** Its line there, from 1. */
  importLine: 'uint64',
} as const satisfies Record<string, ColumnKind>

export const versionFields = {
  /** Higher at every write of the id: epoch microseconds of the write, or more when the clock is behind. */
  version: 'uint64',
  /** This version cancels the one before it. */
  isDeleted: 'flag',
} as const satisfies Record<string, ColumnKind>
