import { LRUCache } from 'lru-cache'
import { Problem } from '../../problem.ts'
import { type QueryTarget, selectRows } from '../../stores/clickhouse/select.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import { Batcher } from './batcher.ts'
import { clickCampaignsSql, type OwnedId } from './sql.ts'
import type { ValidEvent } from './validate.ts'

/** Where an event belongs. */
export interface EventCampaign {
  readonly campaignId: string
  /** The owner of the campaign. */
  readonly userId: string
}

/** What events are attributed by. */
export interface Attribution {
  /**
   * Finds the place of an event among the account's own clicks and campaigns. What does not exist and what is somebody
   * else's are one case: neither is found.
   * @throws Problem `click_not_found`, `campaign_not_found`, `unavailable`
   */
  resolve(accountId: string, of: ValidEvent['identifiers']): Promise<EventCampaign>
  /** Drops the clicks that were found: they are looked up again. Campaigns come from Postgres, and expire by themselves. */
  forget(): void
}

/** A click never changes, so what was found stays; what was not found may arrive at any moment and is asked again. */
const clicksMax = 100_000

/** From this age on a campaign is read again, beside the answer. */
const refreshMs = 5_000
/** A campaign that could not be read again for so long, because Postgres is away, is not used any more. */
const ttlMs = 60_000
/** While Postgres is away, a campaign is tried again this often. */
const retryMs = 1_000
const campaignsMax = 20_000

const lookUpsMax = 1_000
const deadlineMs = 5_000

interface Campaign {
  place: EventCampaign
  readAtMs: number
  triedAtMs: number
  isBeingRead: boolean
}

/** @param now the present moment in epoch milliseconds */
export function openAttribution(
  { clickhouse, postgres }: { clickhouse: QueryTarget; postgres: Postgres },
  now: () => number,
): Attribution {
  const clicks = new LRUCache<string, string>({ max: clicksMax })
  const campaigns = new LRUCache<string, Campaign>({ max: campaignsMax })

  const clickLookUps = new Batcher<OwnedId, string | undefined>({
    itemsMax: lookUpsMax,
    concurrentMax: 1,
    deadlineMs,
    async run(wanted, signal) {
      const rows = await selectRows<OwnedId & { campaignId: string }>(clickhouse, clickCampaignsSql(wanted), {
        label: 'events.clicks',
        signal,
      })
      const found = new Map(rows.map((row) => [keyOf(row), row.campaignId]))
      return wanted.map((click) => found.get(keyOf(click)))
    },
  })

  const campaignLookUps = new Batcher<OwnedId, string | undefined>({
    itemsMax: lookUpsMax,
    concurrentMax: 1,
    deadlineMs,
    async run(wanted) {
      const rows = await queryPostgres(
        postgres<(OwnedId & { userId: string })[]>`
          SELECT account_id AS "accountId", id, user_id AS "userId"
          FROM campaigns
          WHERE (account_id, id) IN (
            SELECT * FROM unnest(${wanted.map(({ accountId }) => accountId)}::text[], ${wanted.map(({ id }) => id)}::text[])
          )`,
      )
      const found = new Map(rows.map((row) => [keyOf(row), row.userId]))
      return wanted.map((campaign) => found.get(keyOf(campaign)))
    },
  })

  async function findClick(click: OwnedId): Promise<string | undefined> {
    const key = keyOf(click)
    const known = clicks.get(key)
    if (known !== undefined) return known
    const campaignId = await clickLookUps.add(click)
    if (campaignId !== undefined) clicks.set(key, campaignId)
    return campaignId
  }

  async function findCampaign(campaign: OwnedId): Promise<EventCampaign | undefined> {
    const known = campaigns.get(keyOf(campaign))
    const nowMs = now()
    const ageMs = known ? nowMs - known.readAtMs : Number.POSITIVE_INFINITY
    // A clock that was set back tells nothing about the age.
    if (!known || ageMs >= ttlMs || ageMs < 0) return readCampaign(campaign, nowMs)
    if (ageMs >= refreshMs && nowMs - known.triedAtMs >= retryMs && !known.isBeingRead) {
      known.triedAtMs = nowMs
      known.isBeingRead = true
      // A failure shows at the first event that has to wait for Postgres.
      readCampaign(campaign, nowMs)
        .catch(() => {})
        .finally(() => {
          known.isBeingRead = false
        })
    }
    return known.place
  }

  async function readCampaign(campaign: OwnedId, readAtMs: number): Promise<EventCampaign | undefined> {
    const key = keyOf(campaign)
    const userId = await campaignLookUps.add(campaign)
    if (userId === undefined) {
      campaigns.delete(key)
      return undefined
    }
    const place = { campaignId: campaign.id, userId }
    campaigns.set(key, { place, readAtMs, triedAtMs: readAtMs, isBeingRead: false })
    return place
  }

  return {
    forget() {
      clicks.clear()
    },
    async resolve(accountId, of) {
      if ('campaignId' in of) {
        const place = await findCampaign({ accountId, id: of.campaignId })
        if (!place) throw new Problem('campaign_not_found', 'There is no such campaign.', { param: 'campaign_id' })
        return place
      }
      const campaignId = await findClick({ accountId, id: of.clickId })
      const place = campaignId === undefined ? undefined : await findCampaign({ accountId, id: campaignId })
      if (!place) throw new Problem('click_not_found', 'There is no such click.', { param: 'click_id' })
      return place
    },
  }
}

/** Ids hold no space, so no two of them make the same key. */
function keyOf({ accountId, id }: OwnedId): string {
  return `${accountId} ${id}`
}
