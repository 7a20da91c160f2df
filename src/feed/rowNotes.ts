import type { LRUCache } from 'lru-cache'
import { dayMs } from '../stores/timing/units.ts'
import type { WriteSession } from '../writer/fence/session.ts'
import { readOwners } from '../writer/store/campaignOwners.ts'
import type { RowToStore } from '../writer/store/rowBatch.ts'
import { keyOfText, keyText } from '../writer/tables/accountKeys.ts'

const times = ['clickedAt', 'convertedAt', 'spentAt', 'occurredAt', 'updatedAt']

/** Collects notes on the rows of one flush, by the index of the row: they are stored, but their senders may be wrong. */
export class RowNotes {
  readonly #notes = new Map<number, string[]>()
  /** The keys of the campaigns that rows name. */
  readonly #named: { key: string; index: number }[] = []

  add(index: number, accountId: string, { row }: RowToStore, nowMs: number): void {
    const values = row as object as Readonly<Record<string, unknown>>
    const ahead = times.find((field) => (values[field] as number) > nowMs + dayMs)
    if (ahead !== undefined) this.#note(index, `${ahead}: is more than a day ahead`)
    const { campaignId } = values
    if (typeof campaignId === 'string' && campaignId !== '')
      this.#named.push({ key: keyText({ accountId, id: campaignId }), index })
  }

  /**
   * Looks up campaigns, which may be among the rows: call it when these are stored.
   * @param known keys of campaigns that exist
   * @returns the notes by index
   */
  async complete(session: WriteSession, known: LRUCache<string, true>) {
    const named = this.#named.filter(({ key }) => !known.has(key))
    const wanted = new Set(named.map(({ key }) => key))
    const found = wanted.size > 0 ? await readOwners(session, [...wanted].map(keyOfText)) : new Map<string, string>()
    for (const key of found.keys()) known.set(key, true)
    for (const { key, index } of named)
      if (!found.has(key)) this.#note(index, 'campaignId: the account has no such campaign')
    return this.#notes
  }

  #note(index: number, note: string): void {
    this.#notes.set(index, [...(this.#notes.get(index) ?? []), note])
  }
}
