import { queryPostgres } from '../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../stores/retry.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { Writer } from '../writer/writer.ts'

/**
 * Sets the `userId` of events without one to the owner of their campaign, or to the account when there is no such campaign.
 */
export async function assignOwners(writer: Writer, events: readonly PixelEvent[]): Promise<void> {
  const { postgres } = writer.stores
  const ownerless = events.filter(({ userId }) => userId === '')
  const campaignIds = [...new Set(ownerless.map(({ campaignId }) => campaignId))]
  const campaigns = await retryWhileUnavailable(
    'looking up campaigns',
    () =>
      queryPostgres(postgres<{ id: string; user_id: string }[]>`
        SELECT id, user_id
        FROM campaigns
        WHERE account_id = ${writer.accountId} AND id = ANY(${campaignIds}::text[])`),
    writer,
  )
  const owners = new Map(campaigns.map(({ id, user_id }) => [id, user_id]))
  for (const event of ownerless) event.userId = owners.get(event.campaignId) ?? writer.accountId
}
