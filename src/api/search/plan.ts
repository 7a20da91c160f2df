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
import { listRange, type Range } from '../../query/timeRange.ts'
import { fold } from './caseFolding.ts'

/** One page of a search, decided. */
export interface SearchPlan<Field extends string> {
  accountId: string
  /** Of the account. */
  currency: string
  /** As it was asked, trimmed. */
  query: string
  /** The same without case. */
  folded: string
  fields: readonly Field[]
  limit: number
  /** Sort key of the last row of the previous page; absent for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this search carry. */
  fingerprint: string
}
export type ConversionSearchPlan = SearchPlan<ConversionSearchField> & { range: Partial<Range> }
export type CampaignSearchPlan = SearchPlan<CampaignSearchField>

/** Who asks. */
interface SearchCaller {
  accountId: string
  currency: string
}

/**
 * Decides how conversions are searched; no I/O.
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
 * Decides how campaigns are searched; no I/O.
 * @throws Problem `invalid_q`, `invalid_cursor`
 */
export function planCampaignSearch(query: CampaignSearchQuery, caller: SearchCaller): CampaignSearchPlan {
  return planSearch('campaigns/search', campaignSearchFields, query, {}, caller)
}

function planSearch<Field extends string>(
  list: string,
  known: readonly Field[],
  asked: CampaignSearchQuery,
  filters: Record<string, unknown>,
  { accountId, currency }: SearchCaller,
): SearchPlan<Field> {
  const query = asked.q.trim()
  const length = [...query].length
  if (length < searchLengthMin || length > searchLengthMax) {
    const allowed = `${searchLengthMin} to ${searchLengthMax} characters`
    throw new Problem('invalid_q', `q must have ${allowed} beside the space around it; it has ${length}.`, {
      param: 'q',
    })
  }
  const wanted = new Set<string>(asked.fields?.split(',') ?? known)
  const fields = known.filter((field) => wanted.has(field))
  const boundTo = fingerprint(accountId, list, { ...filters, query, fields })
  return {
    accountId,
    currency,
    query,
    folded: fold(query),
    fields,
    limit: asked.limit ?? pageLimitDefault,
    after: readCursor(asked.cursor, boundTo),
    fingerprint: boundTo,
  }
}
