import { type Damage, damageAdvice } from '../../stores/clickhouse/damagedData.ts'
import { eraseAgain } from '../erasure/completeErasures.ts'
import { findUnerasedRows } from '../erasure/erasedRows.ts'
import type { Writer } from '../fence/session.ts'
import { raiseCountsAndFindMissing } from '../journal/confirmedRows.ts'
import { removeAgain } from '../retention/completeRemoval.ts'
import { findChangedMonths, rebuildRestoredMonths } from '../retention/removedMonths.ts'
import { findUnremovedRows } from '../retention/removedRows.ts'
import { findRowsAheadOfWatermark, findWatermarksInFuture, raiseWatermarks } from './aheadOfWatermark.ts'
import { findWrongCopies, removeWrongCopies } from './clickCopies.ts'
import { findWrongDerivedRows, rebuildDerivedRows, type Sums } from './derivedRows.ts'
import { removeDuplicateClicks } from './duplicateClicks.ts'
import { findDuplicateIds } from './duplicateIds.ts'
import { removeDuplicateRows } from './duplicateRows.ts'
import { attributeWrongConversions, findWronglyAttributed } from './reattribution.ts'

/** What is found of one kind: the table, its UTC day or the first day of a UTC month, and numbers. */
export interface Finding {
  table: string
  /** `2026-11-20`; null: the table is compared as a whole. */
  day?: string | null
  /** `2026-11-01`. */
  month?: string
}

/** A kind of difference between what tables of an account have and what they should have; docs/restore.md explains each. */
export interface DifferenceKind<Found extends Finding = Finding> {
  kind: string
  /** Absent: `verify` finds it before it compares accounts. */
  find?(writer: Writer): Promise<Found[]>
  /** Idempotent; absent: nothing in the databases can correct the difference. */
  repair?(writer: Writer, found: readonly Found[]): Promise<void>
  /** The text after account, table, and day or month. */
  line(found: Found): string
  /** What the operator does about a difference that cannot be repaired. */
  advice?: string
}

/** Every kind, in the order of repair. */
export const kinds: readonly DifferenceKind[] = [
  kind<Damage>({
    kind: 'damaged',
    line: ({ path, reason }) => `part ${path} is damaged: ${reason}`,
    advice: damageAdvice,
  }),
  kind({
    kind: 'ahead_of_watermark',
    find: findRowsAheadOfWatermark,
    repair: raiseWatermarks,
    line: ({ rows }) =>
      `${quantity(rows, 'row is', 'rows are')} stored later than the last batch; reads by updated_since do not return them`,
  }),
  // Before other repairs write stored fields again.
  kind({
    kind: 'not_erased',
    find: findUnerasedRows,
    repair: eraseAgain,
    line: ({ rows }) => `${quantity(rows, 'row', 'rows')} of erased visitors or clicks with personal data`,
  }),
  kind({
    kind: 'not_removed',
    find: findUnremovedRows,
    async repair(writer) {
      await rebuildRestoredMonths(writer)
      await removeAgain(writer)
    },
    line: ({ rows }) => `${quantity(rows, 'row', 'rows')} of removed months`,
  }),
  kind({
    kind: 'duplicate_ids',
    find: findDuplicateIds,
    async repair(writer, found) {
      if (found.some(({ table }) => table === 'clicks')) await removeDuplicateClicks(writer)
      if (found.some(({ table }) => table !== 'clicks')) await removeDuplicateRows(writer)
    },
    line({ table, ids }) {
      const remaining = table === 'clicks' ? 'stored first' : 'updated last; of equals, the one stored first'
      return `${quantity(ids, 'id', 'ids')} stored more than once; --repair keeps the copy ${remaining}`
    },
  }),
  kind({
    kind: 'derived',
    find: findWrongDerivedRows,
    repair: rebuildDerivedRows,
    line({ keys, sums }) {
      if (!sums) return `${quantity(keys, 'row', 'rows')} missing, wrong or superfluous`
      const { stored, actual } = sums
      const unequal = (Object.keys(stored) as (keyof Sums)[]).filter((name) => stored[name] !== actual[name])
      const each = unequal.map((name) => `; ${name} ${stored[name]} stored, ${actual[name]} in the rows`)
      const differ = quantity(keys, 'sum differs', 'sums differ')
      return `${differ}${each.length > 0 ? each.join('') : '; the sums of the whole day are correct'}`
    },
  }),
  // Before conversions copy values from the copies.
  kind({
    kind: 'wrong_copies',
    find: findWrongCopies,
    repair: removeWrongCopies,
    line: ({ rows }) => `${quantity(rows, 'copy does', 'copies do')} not equal a stored click`,
  }),
  kind({
    kind: 'unattributed',
    find: findWronglyAttributed,
    repair: async (writer) => void (await attributeWrongConversions(writer)),
    line: ({ conversions }) =>
      `${quantity(conversions, 'conversion is', 'conversions are')} not attributed to the stored click, or copied other values`,
  }),
  kind({
    kind: 'missing_rows',
    find: raiseCountsAndFindMissing,
    line: ({ confirmed, stored }) =>
      `${quantity(confirmed - stored, 'row', 'rows')} missing; ${confirmed} confirmed, ${stored} stored`,
    advice:
      'Rows are missing: import their files again or restore a backup, then run verify with --accept-missing. Sums and ids of clicks of a month without any click are left as they are: if Postgres was restored to a time before months were removed, restore ClickHouse to that time too; otherwise run verify with --accept-missing --repair, then import the files.',
  }),
  kind({
    kind: 'watermark_in_future',
    find: findWatermarksInFuture,
    line: ({ watermark }) => `the watermark of storedAt is ${watermark}, in the future`,
    advice:
      'Later rows get even later times of storage, and nothing is lost: correct the clock of the server of Postgres; verify reports this until the clock has reached the watermark.',
  }),
  kind({
    kind: 'removed_month',
    find: findChangedMonths,
    line: () => 'does not equal what was recorded when the clicks were removed',
    advice: 'Sums of removed clicks have changed and cannot be computed again: restore a backup.',
  }),
]

function kind<Found extends Finding>(definition: DifferenceKind<Found>): DifferenceKind {
  return definition
}

function quantity(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
