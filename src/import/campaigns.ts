import type { Writer } from '../writer/fence/writer.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'

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
    const owners = await findOwners(this.#writer, [...rowsById.keys()])
    for (const [id, rows] of rowsById) {
      if (owners.has(id)) {
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

/**
 * Finds campaigns of the writer's account.
 * @returns the owner (`userId`) of each campaign that exists, by its id
 */
async function findOwners(writer: Writer, campaignIds: readonly string[]): Promise<Map<string, string>> {
  const campaigns = await writer.sql<{ id: string; user_id: string }[]>('looking up campaigns')`
    SELECT id, user_id
    FROM campaigns
    WHERE account_id = ${writer.accountId} AND id = ANY(${[...campaignIds]}::text[])`
  return new Map(campaigns.map(({ id, user_id }) => [id, user_id]))
}

/**
 * Sets the `userId` of events without one to the owner of their campaign, or to the account when there is no such campaign.
 */
export async function assignOwners(writer: Writer, events: readonly PixelEvent[]): Promise<void> {
  const ownerless = events.filter(({ userId }) => userId === '')
  const owners = await findOwners(writer, [...new Set(ownerless.map(({ campaignId }) => campaignId))])
  for (const event of ownerless) event.userId = owners.get(event.campaignId) ?? writer.accountId
}
