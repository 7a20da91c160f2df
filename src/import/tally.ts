import { comparedDuplicates } from '../writer/tables/givenFields.ts'
import { type ImportName, importTables } from './resourceNames.ts'

export type Tally = ReturnType<typeof emptyTally> & {
  /** Rows of totals, which are not stored; absent: none. */
  totals?: number
  /** Of `--replace-days`: stored costs that became 0, and their sum in the account's currency. */
  replaced?: { rows: number; cost: number }
}

/** Row counts by outcome; `read` is the sum of inserted, updated, duplicates, rejected and totals once the import has ended. */
export function emptyTally() {
  return {
    read: 0,
    inserted: 0,
    updated: 0,
    duplicates: 0,
    /** Duplicates of a stored row that is newer. */
    older: 0,
    /** Duplicates that differ from a stored row which is not newer. */
    conflicting: 0,
    rejected: 0,
  }
}

/** @param count rows with a conflict @param ids the first ones */
export function conflictWarning(resource: ImportName, count: number, ids: readonly string[], nowMs: number): string {
  const differ = `${count === 1 ? `1 row differs from the stored row with its id, and was` : `${count} rows differ from the stored rows with their ids, and were`} not stored (${ids.join(', ')}${count > ids.length ? ', …' : ''}).`
  const table = importTables[resource]
  if (table === 'conversions' || table === 'costs') {
    const updatedAt = `${new Date(nowMs).toISOString().slice(0, 19)}Z`
    const removed = resource === 'costs' ? ' The id of a cost that was removed by its age stays taken.' : ''
    return `warning: ${differ} To replace one, give its row a later updatedAt, such as --updated-at ${updatedAt}.${removed}`
  }
  const never =
    resource === 'clicks' ? 'click never changes, so a repeated click corrects no cost' : 'event never changes'
  return `warning: ${differ} A stored ${never}. The first ${comparedDuplicates} duplicates of an import are compared.`
}
