import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { selectRows } from '../stores/clickhouse/select.ts'
import { atMost } from '../stores/entryLimit.ts'
import type { Stores } from '../stores/open.ts'
import { queryPostgres } from '../stores/postgres/connection.ts'
import { RefreshingCache } from '../stores/refreshingCache.ts'
import { type AccountKey, keyText } from '../writer/tables/accountKeys.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { IncomingEvent } from './incomingEvent.ts'
import { asWriter, type Found, openLookUps } from './lookUps.ts'
import { clickCampaignsSql } from './sql.ts'

/** Found clicks are cached without expiry, since a click never changes; a missing click is not cached. */
const clicksMax = 100_000

/** A campaign is at most 60 s old; from 5 s on it is read again in the background, at most once per second. */
const ages = { freshMs: 5_000, staleWhileRevalidateMs: 55_000, staleIfErrorMs: 0, retryMs: 1_000 }
const campaignsMax = 20_000

/**
 * Opens the step that finds the campaign and the user of events.
 * @param now the current time, epoch milliseconds
 */
export function openEventCampaigns(
  { clickhouse, postgres }: Pick<Stores, 'clickhouse' | 'postgres'>,
  now: () => number,
) {
  const clicks = new LRUCache<string, string>(atMost(clicksMax))

  const lookUpCampaignOfClick = openLookUps<string>((wanted, signal) =>
    selectRows<Found<string>>(asWriter(clickhouse), clickCampaignsSql(wanted), { label: 'events.clicks', signal }),
  )
  const lookUpOwner = openLookUps<string>((wanted) =>
    queryPostgres(postgres<Found<string>[]>`
      SELECT account_id AS "accountId", id, user_id AS value
      FROM campaigns
      WHERE (account_id, id) IN (
        SELECT * FROM unnest(${wanted.map(({ accountId }) => accountId)}::text[], ${wanted.map(({ id }) => id)}::text[])
      )`),
  )

  /** @returns the campaign id of a click, undefined for an unknown click */
  async function findCampaignOfClick(click: AccountKey): Promise<string | undefined> {
    const key = keyText(click)
    const known = clicks.get(key)
    if (known !== undefined) return known
    const campaignId = await lookUpCampaignOfClick(click)
    if (campaignId !== undefined) clicks.set(key, campaignId)
    return campaignId
  }

  /** The owners of campaigns, which are the users of their events. */
  const owners = new RefreshingCache<AccountKey, string>({
    max: campaignsMax,
    ...ages,
    now,
    keyOf: keyText,
    read: lookUpOwner,
  })

  /** Nearly always the campaign is known without a query. */
  function setKnownCampaign({ row }: IncomingEvent): boolean {
    const { accountId, clickId, campaignId } = row
    const id = clickId === '' ? campaignId : clicks.get(keyText({ accountId, id: clickId }))
    return setCampaign(row, id, id === undefined ? undefined : owners.peek({ accountId, id }))
  }

  async function findCampaign(event: IncomingEvent): Promise<void> {
    const { accountId, clickId, campaignId } = event.row
    const id = clickId === '' ? campaignId : await findCampaignOfClick({ accountId, id: clickId })
    const userId = id === undefined ? undefined : await owners.find({ accountId, id })
    if (setCampaign(event.row, id, userId)) return
    event.outcome =
      clickId === ''
        ? new Problem('campaign_not_found', 'No such campaign.', { param: 'campaign_id' })
        : new Problem('click_not_found', clickNotFound, { param: 'click_id' })
  }

  /**
   * Sets the campaign and the user of events. An id that does not exist and an id of another account give the same error:
   * the outcome `click_not_found` or `campaign_not_found`.
   */
  return async function findCampaigns(events: readonly IncomingEvent[]): Promise<void> {
    const unknown = events.filter((event) => !setKnownCampaign(event))
    if (unknown.length > 0) await Promise.all(unknown.map(findCampaign))
  }
}

const clickNotFound = 'No such click, or the account does not have its campaign.'

/** @returns false without a campaign or without its user */
function setCampaign(row: PixelEvent, campaignId: string | undefined, userId: string | undefined): boolean {
  if (campaignId === undefined || userId === undefined) return false
  row.campaignId = campaignId
  row.userId = userId
  return true
}
