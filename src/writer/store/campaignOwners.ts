import type { WriteSession } from '../fence/session.ts'
import { type AccountKey, accountsOf, keyText } from '../tables/accountKeys.ts'
import type { PixelEvent } from '../tables/pixelEvent.ts'

/** Sets the `userId` of events without one to the owner of their campaign, or to their account when there is no such campaign. */
export async function assignOwners(session: WriteSession, events: readonly PixelEvent[]): Promise<void> {
  const ownerless = events.filter(({ userId }) => userId === '')
  if (ownerless.length === 0) return
  const campaignOf = ({ accountId, campaignId }: PixelEvent) => ({ accountId, id: campaignId })
  const campaigns = [...new Map(ownerless.map((event) => [keyText(campaignOf(event)), campaignOf(event)])).values()]
  const owners = await readOwners(session, campaigns)
  for (const event of ownerless) event.userId = owners.get(keyText(campaignOf(event))) ?? event.accountId
}

/** @returns the owners of the campaigns that exist, by key */
export async function readOwners(session: WriteSession, campaigns: readonly AccountKey[]) {
  const found = await session.sql<(AccountKey & { userId: string })[]>('looking up campaigns')`
    SELECT account_id AS "accountId", id, user_id AS "userId"
    FROM campaigns
    JOIN unnest(
      ${campaigns.map(({ accountId }) => accountId)}::text[], ${campaigns.map(({ id }) => id)}::text[]
    ) AS named (account_id, id) USING (account_id, id)
    WHERE account_id = ANY(${accountsOf(campaigns)}::text[])`
  return new Map(found.map((campaign) => [keyText(campaign), campaign.userId]))
}
