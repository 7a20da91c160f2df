import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { Batcher } from '../stores/batcher.ts'
import { type QueryTarget, selectRows } from '../stores/clickhouse/select.ts'
import { atMost } from '../stores/entryLimit.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { RefreshingCache } from '../stores/refreshingCache.ts'
import { clickCampaignsSql, type OwnedId, ownedKey } from './sql.ts'
import type { ValidEvent } from './validate.ts'

export interface EventCampaign {
  readonly campaignId: string
  readonly userId: string
}

/** Found clicks are cached without expiry, since a click never changes; a missing click is not cached. */
const clicksMax = 100_000

/** From this age on a campaign is read again in the background. */
const refreshMs = 5_000
/** Maximum age of a campaign while Postgres is unavailable, and how often it is tried again. */
const ttlMs = 60_000
const retryMs = 1_000
const campaignsMax = 20_000

const lookUpsMax = 1_000
const lookUpTimeoutMs = 5_000

/** @param now the current time, epoch milliseconds */
export function openEventCampaigns(
  { clickhouse, postgres }: { clickhouse: QueryTarget; postgres: Postgres },
  now: () => number,
) {
  const clicks = new LRUCache<string, string>(atMost(clicksMax))

  const clickLookUps = openLookUps((wanted, signal) =>
    selectRows<Found>(clickhouse, clickCampaignsSql(wanted), { label: 'events.clicks', signal }),
  )
  const ownerLookUps = openLookUps((wanted) =>
    queryPostgres(postgres<Found[]>`
      SELECT account_id AS "accountId", id, user_id AS value
      FROM campaigns
      WHERE (account_id, id) IN (
        SELECT * FROM unnest(${wanted.map(({ accountId }) => accountId)}::text[], ${wanted.map(({ id }) => id)}::text[])
      )`),
  )

  /** @returns the campaign id of a click, undefined for an unknown click */
  async function findClick(click: OwnedId): Promise<string | undefined> {
    const key = ownedKey(click)
    const known = clicks.get(key)
    if (known !== undefined) return known
    const campaignId = await clickLookUps.add(click)
    if (campaignId !== undefined) clicks.set(key, campaignId)
    return campaignId
  }

  const campaigns = new RefreshingCache<OwnedId, EventCampaign>({
    max: campaignsMax,
    ...{ refreshMs, ttlMs, retryMs, now, keyOf: ownedKey },
    async read(campaign) {
      const userId = await ownerLookUps.add(campaign)
      return userId === undefined ? undefined : { campaignId: campaign.id, userId }
    },
  })

  return {
    /** @returns the campaign if `resolve` finds it without a query, else undefined */
    peek(accountId: string, of: ValidEvent['identifiers']): EventCampaign | undefined {
      const id = 'campaignId' in of ? of.campaignId : clicks.get(ownedKey({ accountId, id: of.clickId }))
      return id === undefined ? undefined : campaigns.peek({ accountId, id })
    },
    /**
     * Finds the campaign of an event. An id that does not exist and an id of another account give the same error.
     * @returns the campaign, or Problem `click_not_found` or `campaign_not_found`
     * @throws Problem `unavailable`
     */
    async resolve(accountId: string, of: ValidEvent['identifiers']): Promise<EventCampaign | Problem> {
      if ('campaignId' in of) {
        const campaign = await campaigns.find({ accountId, id: of.campaignId })
        return campaign ?? new Problem('campaign_not_found', 'No such campaign.', { param: 'campaign_id' })
      }
      const campaignId = await findClick({ accountId, id: of.clickId })
      const campaign = campaignId === undefined ? undefined : await campaigns.find({ accountId, id: campaignId })
      const message = 'No such click, or the account does not have its campaign.'
      return campaign ?? new Problem('click_not_found', message, { param: 'click_id' })
    },
  }
}

type Found = OwnedId & { value: string }

/** Combines look-ups of one value by id; undefined for an unknown id. */
function openLookUps(read: (wanted: readonly OwnedId[], signal: AbortSignal) => Promise<Found[]>) {
  return new Batcher<OwnedId, string | undefined>({
    ...{ itemsMax: lookUpsMax, concurrentMax: 1, timeoutMs: lookUpTimeoutMs },
    async run(wanted, signal) {
      const found = new Map((await read(wanted, signal)).map((row) => [ownedKey(row), row.value]))
      return wanted.map((id) => found.get(ownedKey(id)))
    },
  })
}
