import { setImmediate as immediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { RowError } from '../import/readers/rowError.ts'
import { isUnavailable } from '../problem.ts'
import { Turn } from '../stores/timing/turn.ts'
import type { Writer, WriteSession } from '../writer/fence/session.ts'
import { RowBatch } from '../writer/store/rowBatch.ts'
import { AccountClaims, type ClaimOptions } from './accountClaims.ts'
import { decodeFeedRow } from './decodeFeedRow.ts'
import { digestOf, RecentClicks } from './recentClicks.ts'
import { RowNotes } from './rowNotes.ts'
import {
  duplicate,
  type FeedRow,
  isRejectedOrConflict,
  otherWriter,
  type RowResult,
  rejected,
  resultOf,
} from './rows.ts'

/** Stores the rows of all accounts together. */
export class FeedStore {
  readonly claims: AccountClaims
  readonly #recent = new RecentClicks()
  /** Keys of campaigns that exist. */
  readonly #campaigns = new LRUCache<string, true>({ max: 20_000 })
  /** Empty, between two flushes: their memory is reused. */
  readonly #batches = new WeakMap<WriteSession, RowBatch>()

  constructor(stores: Writer['stores'], options: ClaimOptions) {
    this.claims = new AccountClaims(stores, options)
  }

  /**
   * Stores rows of claimed accounts.
   * @param rows in the order in which their sources gave them
   * @returns the result of each row; rows of accounts that are not claimed get `retry`
   * @throws Problem `unavailable` when a database stays unavailable: any of the rows may be stored; LeaseLost
   */
  async flush(rows: readonly FeedRow[]): Promise<readonly RowResult[]> {
    const { claims } = this
    const opened = await claims.repairedSession()
    if (!opened) return rows.map(() => otherWriter)
    const { session, lookUps } = opened
    const batch = this.#batches.get(session) ?? new RowBatch(session, lookUps)
    // After a failure it is not empty.
    this.#batches.delete(session)
    const accountIds = new Set<string>()
    /** Indexes of the rows of the batch. */
    const added: number[] = []
    const results: RowResult[] = rows.map(() => otherWriter)
    /** Indexes of clicks by digest, and of the clicks that repeat one of them literally. */
    const [clicks, repeated] = [new Map<string, number>(), new Map<number, number>()]
    const [nowMs, rowNotes] = [Date.now(), new RowNotes()]
    const turn = new Turn()
    for (const [index, row] of rows.entries()) {
      if (turn.isOver(row.bytes.length)) await immediate()
      const state = claims.stateOf(row.accountId)
      if (!state) continue
      accountIds.add(row.accountId)
      try {
        const decoded = decodeFeedRow(row, state)
        const digest = decoded.table === 'clicks' ? digestOf(row) : ''
        const first = clicks.get(digest)
        if (this.#recent.has(digest)) results[index] = duplicate
        else if (first !== undefined) repeated.set(index, first)
        if (first !== undefined || results[index] === duplicate) continue
        if (digest !== '') clicks.set(digest, index)
        added.push(index)
        batch.add(decoded)
        rowNotes.add(index, row.accountId, decoded, nowMs)
      } catch (error) {
        if (!(error instanceof RowError)) throw error
        results[index] = rejected(error.message)
      }
    }
    const { outcomes } = await claims.whileStoring(accountIds, () => batch.store(nowMs))
    this.#batches.set(session, batch)
    // The rows are stored: their results are sent, without notes while a database is unavailable.
    const notesOf = await rowNotes.complete(session, this.#campaigns).catch((error) => {
      if (!isUnavailable(error)) throw error
      return new Map<number, string[]>()
    })
    for (const [position, outcome] of outcomes.entries()) {
      const index = added[position] as number
      const { accountId, resource } = rows[index] as FeedRow
      const notes = notesOf.get(index)
      const result = resultOf(resource, outcome)
      results[index] = notes && !isRejectedOrConflict(result) ? { ...result, notes } : result
      if (resource === 'clicks' && outcome === 'inserted') claims.markNewClicks(accountId)
    }
    for (const [digest, index] of clicks) if (results[index]?.result !== 'conflict') this.#recent.add(digest)
    for (const [index, first] of repeated)
      results[index] = results[first]?.result === 'conflict' ? results[first] : duplicate
    return results
  }
}
