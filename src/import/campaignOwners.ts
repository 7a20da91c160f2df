import type { Writer } from '../writer/lease/writer.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'

/**
 * Finds campaigns of the writer's account.
 * @returns the owner (`userId`) of each campaign that exists, by its id
 */
export async function findOwners(writer: Writer, campaignIds: readonly string[]): Promise<Map<string, string>> {
  const campaigns = await writer.sql(
    'looking up campaigns',
    (postgres) => postgres<{ id: string; user_id: string }[]>`
      SELECT id, user_id
      FROM campaigns
      WHERE account_id = ${writer.accountId} AND id = ANY(${[...campaignIds]}::text[])`,
  )
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
