import { hash } from 'node:crypto'
import { setImmediate as immediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { RowError } from '../import/readers/rowError.ts'
import { isUnavailable } from '../problem.ts'
import { Turn } from '../stores/timing/turn.ts'
import type { Writer } from '../writer/fence/session.ts'
import { RowBatch } from '../writer/store/rowBatch.ts'
import { AccountClaims, type ClaimOptions } from './accountClaims.ts'
import { decodeFeedRow } from './decodeFeedRow.ts'
import { RowNotes } from './rowNotes.ts'
import { type FeedRow, isRejectedOrConflict, otherWriter, type RowResult, rejected, resultOf } from './rows.ts'

/** The clicks of 20 s at 10,000 a second. A click takes about 100 bytes. */
const recentClicksMax = 200_000

export type FeedStore = ReturnType<typeof openFeedStore>

/** Opens what stores the rows of all accounts together. */
export function openFeedStore(stores: Writer['stores'], options: ClaimOptions) {
  const claims = new AccountClaims(stores, options)
  /**
   * Digests of the clicks that were stored last, as their senders wrote them, if their values are the stored ones. Senders repeat rows soon,
   * and to look up and compare repeated clicks takes ClickHouse more time than to store new ones.
   */
  const recentClicks = new LRUCache<string, true>({ max: recentClicksMax })
  /** Keys of campaigns that exist. */
  const campaigns = new LRUCache<string, true>({ max: 20_000 })

  /**
   * Stores rows of claimed accounts.
   * @param rows in the order in which their sources gave them
   * @returns the result of each row; rows of accounts that are not claimed get `retry`
   * @throws Problem `unavailable` when a database stays unavailable: any of the rows may be stored; LeaseLost
   */
  async function flush(rows: readonly FeedRow[]): Promise<readonly RowResult[]> {
    const results: RowResult[] = rows.map(() => otherWriter)
    const opened = await claims.repairedSession()
    if (!opened) return results
    const { session, lookUps } = opened
    const batch = new RowBatch(session, lookUps)
    const accountIds = new Set<string>()
    /** Indexes of the rows of the batch. */
    const added: number[] = []
    /** Indexes of its clicks by digest. */
    const clicks = new Map<string, number>()
    const [nowMs, rowNotes] = [Date.now(), new RowNotes()]
    const turn = new Turn()
    for (const [index, row] of rows.entries()) {
      if (turn.isOver(row.bytes.length)) await immediate()
      const state = claims.stateOf(row.accountId)
      if (!state) continue
      accountIds.add(row.accountId)
      try {
        const decoded = decodeFeedRow(row, state)
        const digest = decoded.table === 'clicks' ? hash('sha256', row.bytes, 'binary') : ''
        if (recentClicks.has(digest)) {
          results[index] = { result: 'duplicate' }
          continue
        }
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
    // The rows are stored: their results are sent, without notes while a database is unavailable.
    const notesOf = await rowNotes.complete(session, campaigns).catch((error) => {
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
    for (const [digest, index] of clicks) if (results[index]?.result !== 'conflict') recentClicks.set(digest, true)
    return results
  }

  return { claims, flush }
}
