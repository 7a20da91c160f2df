import { pageLimitDefault } from '../../../schema/page.ts'
import {
  type ConversionSearchQuery,
  campaignSearchFields,
  conversionSearchFields,
  searchLengthMax,
  searchLengthMin,
} from '../../../schema/search.ts'
import { invalidParameter } from '../../problem.ts'
import { fingerprint, parseCursor } from '../../query/pagination.ts'
import { fold } from '../../query/searchText.ts'
import { openRange } from '../../query/timeRange.ts'

const searchedFields = {
  'conversions/search': conversionSearchFields,
  'campaigns/search': campaignSearchFields,
} as const
type Search = keyof typeof searchedFields

export type ConversionSearchPlan = ReturnType<typeof planSearch<'conversions/search'>>
export type CampaignSearchPlan = ReturnType<typeof planSearch<'campaigns/search'>>

/**
 * Builds the query plan of a search; no I/O.
 * @throws Problem `invalid_q`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_cursor`
 */
export function planSearch<Of extends Search>(
  search: Of,
  request: ConversionSearchQuery,
  { accountId, currency }: { accountId: string; currency: string },
) {
  const query = request.q.trim()
  const length = [...query].length
  if (length < searchLengthMin || length > searchLengthMax) {
    const allowed = `${searchLengthMin} to ${searchLengthMax} characters`
    throw invalidParameter('q', `must have ${allowed} without surrounding spaces; it has ${length}.`)
  }
  const known: readonly (typeof searchedFields)[Of][number][] = searchedFields[search]
  const wanted = request.fields?.split(',')
  const fields = wanted ? known.filter((field) => wanted.includes(field)) : known
  const { from, to } = request
  const boundTo = fingerprint(accountId, search, { from, to, query, fields })
  return {
    accountId,
    currency,
    query,
    folded: fold(query),
    fields,
    limit: request.limit ?? pageLimitDefault,
    after: parseCursor(request.cursor, boundTo),
    boundTo,
    range: openRange(request),
  }
}
