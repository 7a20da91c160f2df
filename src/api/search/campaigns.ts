import type { Campaign } from '../../../schema/metadata.ts'
import { pageBytesMax } from '../../../schema/page.ts'
import type { CampaignSearchField, CampaignSearchPage, Match } from '../../../schema/search.ts'
import { type PageRows, toPage } from '../../query/list.ts'
import type { ReadContext } from '../../query/readContext.ts'
import { valuePositions } from '../../query/searchText.ts'
import { entityColumns, type StoredEntity, toEntity } from '../../rows/metadata.ts'
import type { CampaignSearchPlan } from './plan.ts'
import { type FoundRow, searchRows } from './slices.ts'

type StoredCampaign = StoredEntity<Campaign>
type FoundCampaign = CampaignSearchPage['data'][number]

/** Reads one page of the campaigns that contain a text, newest first, each with the fields that contain it. */
export async function searchCampaigns(
  context: ReadContext,
  plan: CampaignSearchPlan,
): Promise<PageRows & Omit<CampaignSearchPage, 'data'>> {
  const { accountId, folded, fields, limit } = plan
  const query = { accountId, table: 'campaigns', values: fields, folded } as const
  const columns = entityColumns(context.stores.postgresReader, 'campaigns')
  const found: FoundRow<StoredCampaign>[] = []
  let length = 0
  for await (const row of searchRows<StoredCampaign>(context, query, columns, plan.after, limit + 1)) {
    found.push(row)
    length += JSON.stringify(row).length
    if (length > pageBytesMax) break
  }
  const page = await toPage(
    { rows: found, isFull: length > pageBytesMax },
    plan,
    ({ row }) => ({ atMs: row.createdAt.getTime(), id: row.id }),
    ({ row, positions }) => {
      const matches = positions.map((position) => matchAt(row, position))
      return JSON.stringify({ ...toEntity<Campaign>(row), matched: true, matches } satisfies FoundCampaign)
    },
  )
  return { ...page, query: plan.query, searchedFields: [...fields] }
}

function matchAt(row: StoredCampaign, position: number): Match {
  const field = searchedValues[position - 1] ?? 'tags'
  const value = field === 'tags' ? row.tags[position - valuePositions.tags] : row[field]
  return { field, value: value ?? '' }
}

const searchedValues = Object.keys(valuePositions) as CampaignSearchField[]
