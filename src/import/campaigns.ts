import type { Writer } from '../writer/fence/session.ts'
import { findOwners } from '../writer/store/campaignOwners.ts'
import { keyText } from '../writer/tables/accountKeys.ts'

const shownIds = 5

/** Counts rows that name a campaign which their account does not have. */
export class UnknownCampaigns {
  readonly #writer: Writer
  readonly #known = new Set<string>()
  readonly #firstIds = new Set<string>()
  /** Rows by campaign since the last look-up, without campaigns that are known. */
  #rowsById = new Map<string, number>()
  #rows = 0

  constructor(writer: Writer) {
    this.#writer = writer
  }

  /** @param campaignId of a row; empty: it names none */
  add(campaignId: string): void {
    if (campaignId === '' || this.#known.has(campaignId)) return
    this.#rowsById.set(campaignId, (this.#rowsById.get(campaignId) ?? 0) + 1)
  }

  /** Looks the added campaigns up. Called once per batch, which bounds the memory. */
  async lookUp(): Promise<void> {
    const rowsById = this.#rowsById
    if (rowsById.size === 0) return
    this.#rowsById = new Map()
    const { accountId } = this.#writer
    const campaigns = Array.from(rowsById.keys(), (id) => ({ accountId, id }))
    const owners = await findOwners(this.#writer, campaigns)
    for (const [id, rows] of rowsById) {
      if (owners.has(keyText({ accountId, id }))) {
        this.#known.add(id)
        continue
      }
      this.#rows += rows
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
