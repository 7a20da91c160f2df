import { pageLimitDefault } from '../../../schema/page.ts'
import {
  type CampaignSearchField,
  type CampaignSearchQuery,
  type ConversionSearchField,
  type ConversionSearchQuery,
  campaignSearchFields,
  conversionSearchFields,
  searchLengthMax,
  searchLengthMin,
} from '../../../schema/search.ts'
import { Problem } from '../../problem.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'
import { fold } from '../../query/searchText.ts'
import { listRange, type Range } from '../../query/timeRange.ts'

/** Query plan of one page of a search. */
export interface SearchPlan<Field extends string> {
  accountId: string
  /** Currency of the account. */
  currency: string
  /** The search text, trimmed. */
  query: string
  /** The search text with its case folded. */
  folded: string
  fields: readonly Field[]
  limit: number
  /** Sort key of the last row of the previous page; undefined for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this search carry. */
  fingerprint: string
}
export type ConversionSearchPlan = SearchPlan<ConversionSearchField> & { range: Partial<Range> }
export type CampaignSearchPlan = SearchPlan<CampaignSearchField>

/** The account of the request. */
interface SearchCaller {
  accountId: string
  currency: string
}

/**
 * Builds the query plan of a conversion search; no I/O.
 * @throws Problem `invalid_q`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_cursor`
 */
export function planConversionSearch(query: ConversionSearchQuery, caller: SearchCaller): ConversionSearchPlan {
  const { from, to } = query
  return {
    ...planSearch('conversions/search', conversionSearchFields, query, { from, to }, caller),
    range: listRange(query),
  }
}

/**
 * Builds the query plan of a campaign search; no I/O.
 * @throws Problem `invalid_q`, `invalid_cursor`
 */
export function planCampaignSearch(query: CampaignSearchQuery, caller: SearchCaller): CampaignSearchPlan {
  return planSearch('campaigns/search', campaignSearchFields, query, {}, caller)
}

function planSearch<Field extends string>(
  list: string,
  known: readonly Field[],
  request: CampaignSearchQuery,
  filters: Record<string, unknown>,
  { accountId, currency }: SearchCaller,
): SearchPlan<Field> {
  const query = request.q.trim()
  const length = [...query].length
  if (length < searchLengthMin || length > searchLengthMax) {
    const allowed = `${searchLengthMin} to ${searchLengthMax} characters`
    throw new Problem('invalid_q', `q must have ${allowed} without surrounding spaces; it has ${length}.`, {
      param: 'q',
    })
  }
  const wanted = new Set<string>(request.fields?.split(',') ?? known)
  const fields = known.filter((field) => wanted.has(field))
  const boundTo = fingerprint(accountId, list, { ...filters, query, fields })
  return {
    accountId,
    currency,
    query,
    folded: fold(query),
    fields,
    limit: request.limit ?? pageLimitDefault,
    after: readCursor(request.cursor, boundTo),
    fingerprint: boundTo,
  }
}
