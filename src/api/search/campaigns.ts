import type { Campaign } from '../../../schema/metadata.ts'
import type { CampaignSearchField, CampaignSearchPage, Match } from '../../../schema/search.ts'
import type { RouteContext } from '../../http/context.ts'
import { toPage } from '../../query/pagination.ts'
import { valuePositions } from '../../query/searchText.ts'
import { resourceColumns, type StoredResource, toResource } from '../../rows/metadata.ts'
import type { CampaignSearchPlan } from './plan.ts'
import { readSlice, type Slice } from './slices.ts'

type FoundCampaign = Slice<StoredResource<Campaign>>['found'][number]

/**
 * Reads one page of the campaigns that contain a text, newest first, each with the fields that contain it.
 * @param signal ends the search between two slices and cancels the running statement
 * @throws Problem `unavailable`, `query_timeout`, or the signal's reason
 */
export async function searchCampaigns(
  { stores: { postgresReader } }: RouteContext,
  plan: CampaignSearchPlan,
  signal: AbortSignal,
): Promise<CampaignSearchPage> {
  const { accountId, folded, fields, limit } = plan
  const found: FoundCampaign[] = []
  let from = plan.after
  do {
    const slice = await readSlice<StoredResource<Campaign>>(
      postgresReader,
      { accountId, table: 'campaigns', values: fields, folded },
      resourceColumns(postgresReader, 'campaigns'),
      from,
      limit + 1 - found.length,
      signal,
    )
    found.push(...slice.found)
    from = slice.next
  } while (from !== undefined && found.length <= limit)
  const page = toPage(found, limit, ({ row }) => ({ atMs: row.createdAt.getTime(), id: row.id }), plan.fingerprint)
  return { ...page, data: page.data.map(toFound), query: plan.query, searchedFields: [...fields] }
}

function toFound({ row, positions }: FoundCampaign): CampaignSearchPage['data'][number] {
  return {
    ...toResource<Campaign>(row),
    matched: true,
    matches: positions.map((position) => matchAt(row, position)),
  }
}

function matchAt(row: StoredResource<Campaign>, position: number): Match {
  const field = fieldAt[position] ?? 'tags'
  const value = field === 'tags' ? row.tags[position - valuePositions.tags] : row[field]
  return { field, value: value ?? '' }
}

const fieldAt = Object.fromEntries(
  Object.entries(valuePositions).map(([field, position]) => [position, field]),
) as Record<number, CampaignSearchField>
