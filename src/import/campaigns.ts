import type { Writer } from '../writer/fence/session.ts'

const shownIds = 5

/** Counts rows that name a campaign which their account does not have. */
export class UnknownCampaigns {
  readonly #writer: Writer
  readonly #known = new Set<string>()
  readonly #firstIds = new Set<string>()
  #rows = 0

  constructor(writer: Writer) {
    this.#writer = writer
  }

  /** Looks up the campaigns of a batch. @param rowsById rows of the batch by the campaign that they name; empty: they name none */
  async count(rowsById: ReadonlyMap<string, number>): Promise<void> {
    const ids = [...rowsById.keys()].filter((id) => id !== '' && !this.#known.has(id))
    if (ids.length === 0) return
    const found = await this.#writer.sql<{ id: string }[]>('looking up campaigns')`
      SELECT id FROM campaigns WHERE account_id = ${this.#writer.accountId} AND id = ANY(${ids}::text[])`
    for (const { id } of found) this.#known.add(id)
    for (const id of ids) {
      if (this.#known.has(id)) continue
      this.#rows += rowsById.get(id) ?? 0
      if (this.#firstIds.size <= shownIds) this.#firstIds.add(id)
    }
  }

  /** Returns a warning with the number of rows and the first ids, or undefined if every campaign is known. */
  warning(): string | undefined {
    if (this.#rows === 0) return undefined
    const ids = [...this.#firstIds]
    const shown = `${ids.slice(0, shownIds).join(', ')}${ids.length > shownIds ? ', …' : ''}`
    return `warning: ${this.#rows} ${this.#rows === 1 ? 'row names a campaign' : 'rows name campaigns'} that the account does not have (${shown}). POST /events responds with click_not_found for clicks of such a campaign until it is imported.`
  }
}
