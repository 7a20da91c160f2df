import { type ConversionSearchField, conversionSearchFields } from '../../../schema/search.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import { hasTrigrams } from '../../query/searchText.ts'
import type { NamesById } from '../../rows/nameCache.ts'
import { columnName } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import { concat, writeTexts } from '../../stores/clickhouse/textList.ts'
import type { ConversionSearchPlan } from './plan.ts'

/** Searched fields of the click, and their copies in `conversions`. */
const copiedClickColumns: Partial<Record<ConversionSearchField, string>> = {
  externalClickId: 'click_external_id',
  referrer: 'click_referrer',
}

/** @returns the column of a searched field in `conversions`; undefined for names, which are in Postgres */
function searchColumn(field: ConversionSearchField): string | undefined {
  return field in conversionFields ? columnName(field) : copiedClickColumns[field]
}

/** `search_text` has exactly these columns. */
const searchColumnCount = conversionSearchFields.filter(searchColumn).length

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
  const columns = part.hasText ? fields.flatMap((field) => searchColumn(field) ?? []) : []
  const byName = [
    ...(campaignIds.length === 0 ? [] : [ch`campaign_id IN ${idsIn(campaignIds)}`]),
    ...(offerIds.length === 0 ? [] : [ch`offer_id IN ${idsIn(offerIds)}`]),
  ]
  if (columns.length === 0 && byName.length === 0) return undefined
  const alternatives = (byText: typeof inText) => (columns.length === 0 ? byName : [byText(columns, folded), ...byName])
  return {
    table: 'conversions',
    accountId: plan.accountId,
    range,
    isOldestFirst: false,
    versionConditions: [ch`NOT is_test`],
    keyAlternatives: alternatives(inText),
    indexedAlternatives: alternatives(inIndex),
  }
}

/** The right side of `IN` for thousands of ids, which several statements have. */
const idsIn = (ids: readonly string[]): Fragment => ch`(SELECT arrayJoin(${concat(writeTexts(ids))}))`

/** The index covers all columns together; a search of some columns checks those again. */
function inText(columns: readonly string[], folded: string): Fragment {
  return ch`(search_text LIKE ${text(likeAnywhere(folded))}${inColumns(columns, folded)})`
}

/**
 * The same condition by the indexes alone, without reading text: rows that contain every trigram, at any position. A text of
 * two characters has its own index of pairs.
 */
function inIndex(columns: readonly string[], folded: string): Fragment {
  const hasNgrams =
    [...folded].length === 2 ? ch`hasAllTokens(lower(search_text), ${texts([folded])})` : hasTrigrams(folded)
  return ch`(${hasNgrams}${inColumns(columns, folded)})`
}

function inColumns(columns: readonly string[], folded: string): Fragment {
  if (columns.length === searchColumnCount) return nothing
  const pattern = text(likeAnywhere(folded))
  const inEach = columns.map((column) => ch`replaceAll(lowerUTF8(${identifier(column)}), 'ς', 'σ') LIKE ${pattern}`)
  return ch` AND (${join(inEach, ' OR ')})`
}

/** @returns a LIKE pattern that matches a folded text literally, at any position */
const likeAnywhere = (folded: string): string => `%${folded.replace(/[\\%_]/g, '\\$&')}%`
