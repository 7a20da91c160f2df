import type { NamedTable, Names } from './names.ts'
import { ch, type Fragment } from './sql/fragment.ts'

/** The ids that clicks and conversions share, and the table that knows what each is called. */
const placeTables = {
  campaignId: 'campaigns',
  offerId: 'offers',
  landingPageId: 'landing_pages',
  trafficSourceId: 'traffic_sources',
} as const satisfies Record<string, NamedTable>

/** The ids of a row as they are stored: empty when absent. */
export type StoredPlaces = Record<keyof typeof placeTables, string>

/** The same as it leaves us, with the name that each has now; null for what is absent or unknown. */
export interface Places {
  campaignId: string | null
  campaignName: string | null
  offerId: string | null
  offerName: string | null
  landingPageId: string | null
  landingPageName: string | null
  trafficSourceId: string | null
  trafficSourceName: string | null
}

/** The ids in a select list of `clicks` or `conversions`. */
export const placeColumns: Fragment = ch`campaign_id AS campaignId, offer_id AS offerId,
  landing_page_id AS landingPageId, traffic_source_id AS trafficSourceId`

/**
 * Finds what the places of some rows are called.
 * @returns the function that writes a row's ids and names
 * @throws Problem `unavailable`
 */
export async function findPlaces(
  names: Names,
  accountId: string,
  rows: readonly StoredPlaces[],
): Promise<(row: StoredPlaces) => Places> {
  const find = (field: keyof StoredPlaces) =>
    names.find(
      accountId,
      placeTables[field],
      rows.map((row) => row[field]),
    )
  const [campaigns, offers, landingPages, trafficSources] = await Promise.all([
    find('campaignId'),
    find('offerId'),
    find('landingPageId'),
    find('trafficSourceId'),
  ])
  return (row) => ({
    campaignId: row.campaignId || null,
    campaignName: campaigns.get(row.campaignId) ?? null,
    offerId: row.offerId || null,
    offerName: offers.get(row.offerId) ?? null,
    landingPageId: row.landingPageId || null,
    landingPageName: landingPages.get(row.landingPageId) ?? null,
    trafficSourceId: row.trafficSourceId || null,
    trafficSourceName: trafficSources.get(row.trafficSourceId) ?? null,
  })
}
