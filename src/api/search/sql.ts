import type { ConversionSearchField } from '../../../schema/search.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import type { NamesById } from '../../rows/nameCache.ts'
import { idList } from '../../stores/clickhouse/idList.ts'
import { ch, type Fragment, identifier, instant, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { likeAnywhere } from './caseFolding.ts'
import type { ConversionSearchPlan } from './plan.ts'

/** Where each field lies in `conversions`; names live in Postgres. `search_text` holds all of these and nothing else. */
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

/** What one part of a search looks for: campaigns and offers by id, and the text in the conversions themselves. */
export interface SearchPart {
  campaigns: NamesById
  offers: NamesById
  hasText: boolean
}

/**
 * Which conversions one part of a search finds: by the text in them, or by the campaigns and offers whose names hold it.
 * @returns undefined when there is nothing that could be found
 */
export function conversionSearchQuery(plan: ConversionSearchPlan, part: SearchPart): LatestQuery | undefined {
  const { range, fields, folded } = plan
  const [campaignIds, offerIds] = [[...part.campaigns.keys()], [...part.offers.keys()]]
  const columns = part.hasText ? fields.flatMap((field) => searchColumns[field] ?? []) : []
  const byName = [
    ...(campaignIds.length === 0 ? [] : [ch`campaign_id IN ${idList(campaignIds)}`]),
    ...(offerIds.length === 0 ? [] : [ch`offer_id IN ${idList(offerIds)}`]),
  ]
  const anyOf = [...(columns.length === 0 ? [] : [inText(columns, folded)]), ...byName]
  if (anyOf.length === 0) return undefined
  return {
    table: ch`conversions`,
    at: ch`converted_at`,
    id: ch`id`,
    keyConditions: [
      ch`account_id = ${text(plan.accountId)}`,
      ...(range.fromMs === undefined ? [] : [ch`converted_at >= ${instant(range.fromMs)}`]),
      ...(range.untilMs === undefined ? [] : [ch`converted_at < ${instant(range.untilMs)}`]),
    ],
    versionConditions: [ch`NOT is_test`],
    keyAlternatives: anyOf,
    indexedAlternatives: [...(columns.length === 0 ? [] : [inIndex(columns, folded)]), ...byName],
  }
}

/** The index knows the text of all columns together; where only some are asked for, these are looked at again. */
function inText(columns: readonly string[], folded: string): Fragment {
  return ch`(search_text LIKE ${text(likeAnywhere(folded))}${inColumns(columns, folded)})`
}

/**
 * The same from the indexes alone, without reading any text: rows that hold every piece of it, wherever. Two characters
 * are a piece of their own in an index of their own.
 */
function inIndex(columns: readonly string[], folded: string): Fragment {
  const characters = [...folded]
  const pieces = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''))
  const holdsPieces =
    characters.length === 2
      ? ch`hasAllTokens(lower(search_text), ${texts([folded])})`
      : ch`hasAllTokens(search_text, ${texts([...new Set(pieces)].slice(0, piecesMax))})`
  return ch`(${holdsPieces}${inColumns(columns, folded)})`
}

/** Pieces beyond these rule out few rows more. */
const piecesMax = 32

function inColumns(columns: readonly string[], folded: string): Fragment {
  if (columns.length === searchColumnCount) return nothing
  const pattern = text(likeAnywhere(folded))
  const inEach = columns.map((column) => ch`replaceAll(lowerUTF8(${identifier(column)}), 'ς', 'σ') LIKE ${pattern}`)
  return ch` AND (${join(inEach, ' OR ')})`
}
