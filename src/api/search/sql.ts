import { type ConversionSearchField, conversionSearchFields } from '../../../schema/search.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import { hasTrigrams } from '../../query/searchText.ts'
import { columnName } from '../../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import { concat } from '../../stores/clickhouse/textList.ts'
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

/** Searched names: the ids of their entities in `conversions`, and the table that has the names. */
export const namedFields = {
  campaignName: { id: 'campaignId', table: 'campaigns' },
  offerName: { id: 'offerId', table: 'offers' },
} as const
export type NameField = keyof typeof namedFields

export const isName = (field: ConversionSearchField): field is NameField => field in namedFields

/** A field of a search; of a name the ids of the entities whose names match, arrays for `concat`. */
export interface SearchedField {
  field: ConversionSearchField
  ids: readonly Fragment[] | undefined
}

/** The conversions that a search finds: by their own text, or by the names of their campaign and offer. @param searched at least one */
export function conversionSearchQuery(
  { accountId, range, folded }: ConversionSearchPlan,
  searched: readonly SearchedField[],
): LatestQuery {
  const columns = searched.flatMap(({ field }) => searchColumn(field) ?? [])
  const byName = searched.flatMap(({ field, ids }) =>
    ids && isName(field)
      ? [ch`${identifier(columnName(namedFields[field].id))} IN (SELECT arrayJoin(${concat(ids)}))`]
      : [],
  )
  const alternatives = (byText: typeof inText) => (columns.length === 0 ? byName : [byText(columns, folded), ...byName])
  return {
    table: 'conversions',
    accountId,
    range,
    isOldestFirst: false,
    versionConditions: [ch`NOT is_test`],
    keyAlternatives: alternatives(inText),
    indexedAlternatives: alternatives(inIndex),
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
