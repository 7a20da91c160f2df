import type { ConversionSearchField } from '../../../schema/search.ts'
import { inRange } from '../../query/conditions.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import type { NamesById } from '../../rows/nameCache.ts'
import { idList } from '../../stores/clickhouse/idList.ts'
import { ch, type Fragment, identifier, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { likeAnywhere } from './caseFolding.ts'
import type { ConversionSearchPlan } from './plan.ts'

/** The column of each field in `conversions`; undefined for names, which are in Postgres. `search_text` has exactly these columns. */
const searchColumns: Record<ConversionSearchField, string | undefined> = {
  id: 'id',
  clickId: 'click_id',
  transactionId: 'transaction_id',
  externalStatus: 'external_status',
  campaignId: 'campaign_id',
  campaignName: undefined,
  offerId: 'offer_id',
  offerName: undefined,
  country: 'country',
  couponCode: 'coupon_code',
  visitorId: 'visitor_id',
  externalClickId: 'click_external_id',
  referrer: 'click_referrer',
  sub1: 'sub1',
  sub2: 'sub2',
  sub3: 'sub3',
  sub4: 'sub4',
  sub5: 'sub5',
  sub6: 'sub6',
  sub7: 'sub7',
  sub8: 'sub8',
  sub9: 'sub9',
  sub10: 'sub10',
}
const searchColumnCount = Object.values(searchColumns).filter(Boolean).length

/** One part of a search: campaigns and offers with a matching name, and whether the conversions themselves are searched. */
export interface SearchPart {
  campaigns: NamesById
  offers: NamesById
  hasText: boolean
}

/**
 * The conversions that one part of a search finds: by their own text, or by the names of their campaign and offer.
 * @returns undefined when nothing can match
 */
export function conversionSearchQuery(plan: ConversionSearchPlan, part: SearchPart): LatestQuery | undefined {
  const { range, fields, folded } = plan
  const [campaignIds, offerIds] = [[...part.campaigns.keys()], [...part.offers.keys()]]
  const columns = part.hasText ? fields.flatMap((field) => searchColumns[field] ?? []) : []
  const byName = [
    ...(campaignIds.length === 0 ? [] : [ch`campaign_id IN ${idList(campaignIds)}`]),
    ...(offerIds.length === 0 ? [] : [ch`offer_id IN ${idList(offerIds)}`]),
  ]
  const alternatives = [...(columns.length === 0 ? [] : [inText(columns, folded)]), ...byName]
  if (alternatives.length === 0) return undefined
  return {
    table: ch`conversions`,
    at: ch`converted_at`,
    id: ch`id`,
    keyConditions: [ch`account_id = ${text(plan.accountId)}`, ...inRange(ch`converted_at`, range)],
    versionConditions: [ch`NOT is_test`],
    keyAlternatives: alternatives,
    indexedAlternatives: [...(columns.length === 0 ? [] : [inIndex(columns, folded)]), ...byName],
  }
}

/** The index covers all columns together; a search of some columns checks those again. */
function inText(columns: readonly string[], folded: string): Fragment {
  return ch`(search_text LIKE ${text(likeAnywhere(folded))}${inColumns(columns, folded)})`
}

/**
 * The same condition by the indexes alone, without reading text: rows that contain every trigram, at any position. A text of
 * two characters has its own index of pairs.
 */
function inIndex(columns: readonly string[], folded: string): Fragment {
  const characters = [...folded]
  const trigrams = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''))
  const hasNgrams =
    characters.length === 2
      ? ch`hasAllTokens(lower(search_text), ${texts([folded])})`
      : ch`hasAllTokens(search_text, ${texts([...new Set(trigrams)].slice(0, trigramsMax))})`
  return ch`(${hasNgrams}${inColumns(columns, folded)})`
}

/** More trigrams exclude few more rows. */
const trigramsMax = 32

function inColumns(columns: readonly string[], folded: string): Fragment {
  if (columns.length === searchColumnCount) return nothing
  const pattern = text(likeAnywhere(folded))
  const inEach = columns.map((column) => ch`replaceAll(lowerUTF8(${identifier(column)}), 'ς', 'σ') LIKE ${pattern}`)
  return ch` AND (${join(inEach, ' OR ')})`
}
