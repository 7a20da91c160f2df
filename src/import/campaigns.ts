import type { Writer } from '../writer/fence/session.ts'
import type { RowToStore } from '../writer/store/rowBatch.ts'

const shownIds = 5

/** Counts rows that name a campaign which their account does not have. */
export function countUnknownCampaigns(writer: Writer) {
  /** Rows by the campaign that they name, which has not been looked up yet. */
  let counted = new Map<string, number>()
  const known = new Set<string>()
  const firstIds = new Set<string>()
  let rows = 0

  return {
    add({ row: { campaignId } }: RowToStore): void {
      if (typeof campaignId === 'string') counted.set(campaignId, (counted.get(campaignId) ?? 0) + 1)
    },

    /** Looks up the campaigns of the rows that were added since the last call. */
    async lookUp(): Promise<void> {
      const added = counted
      counted = new Map()
      const ids = [...added.keys()].filter((id) => id !== '' && !known.has(id))
      if (ids.length === 0) return
      const found = await writer.sql<{ id: string }[]>('looking up campaigns')`
        SELECT id FROM campaigns WHERE account_id = ${writer.accountId} AND id = ANY(${ids}::text[])`
      for (const { id } of found) known.add(id)
      for (const id of ids) {
        if (known.has(id)) continue
        rows += added.get(id) ?? 0
        if (firstIds.size <= shownIds) firstIds.add(id)
      }
    },

    /** @returns a warning with the number of rows and the first ids; undefined if every campaign is known */
    warning(): string | undefined {
      if (rows === 0) return undefined
      const ids = [...firstIds]
      const shown = `${ids.slice(0, shownIds).join(', ')}${ids.length > shownIds ? ', …' : ''}`
      return `warning: ${rows} ${rows === 1 ? 'row names a campaign' : 'rows name campaigns'} that the account does not have (${shown}). POST /events responds with click_not_found for clicks of such a campaign until it is imported.`
    },
  }
}
