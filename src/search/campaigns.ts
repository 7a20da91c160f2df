import type { Campaign } from '../../schema/metadata.ts'
import type { CampaignSearchField, CampaignSearchPage, Match } from '../../schema/search.ts'
import { resourceColumns, type StoredResource, toResource } from '../resources.ts'
import type { Room } from '../room.ts'
import { type PageKey, toPage } from '../sql/page.ts'
import { askPostgres } from '../stores/postgres.ts'
import { fold, likeLoosely } from './fold.ts'
import type { CampaignSearchPlan } from './plan.ts'

/** Rows read at once where Postgres finds many that don't hold the text after all. */
const batchMax = 2_000

/**
 * Reads one page of the campaigns that hold a text, newest first, each with the fields that hold it.
 * @param signal ends the reading when the caller hangs up
 * @throws Problem `unavailable`
 */
export async function searchCampaigns(
  room: Room,
  plan: CampaignSearchPlan,
  signal: AbortSignal,
): Promise<CampaignSearchPage> {
  const found: { row: StoredResource<Campaign>; matches: Match[] }[] = []
  let from = plan.after
  for (let batch = plan.limit + 1; found.length <= plan.limit; batch = Math.min(batch * 4, batchMax)) {
    signal.throwIfAborted()
    const rows = await readLoosely(room, plan, from, batch)
    for (const row of rows) {
      const matches = matchesIn(row, plan)
      if (matches.length > 0) found.push({ row, matches })
    }
    const last = rows.at(-1)
    if (!last || rows.length < batch) break
    from = keyOf(last)
  }
  const page = toPage(found.slice(0, plan.limit + 1), plan.limit, ({ row }) => keyOf(row), plan.boundTo)
  return {
    ...page,
    data: page.data.map(({ row, matches }) => ({ ...toResource<Campaign>(row), matched: true, matches })),
    query: plan.query,
    searchedFields: [...plan.fields],
  }
}

/** Reads the next campaigns that may hold the text in some field. */
async function readLoosely(
  { stores: { postgres } }: Room,
  { accountId, folded }: CampaignSearchPlan,
  from: PageKey | undefined,
  limit: number,
): Promise<StoredResource<Campaign>[]> {
  return await askPostgres(
    postgres<StoredResource<Campaign>[]>`
      SELECT ${resourceColumns(postgres, 'campaigns')}
      FROM campaigns
      WHERE account_id = ${accountId} AND search_text LIKE ${likeLoosely(folded)}
        ${from === undefined ? postgres`` : postgres`AND (created_at, id) < (${new Date(from.atMs)}, ${from.id})`}
      ORDER BY created_at DESC, id DESC
      LIMIT ${limit}`,
  )
}

function keyOf({ createdAt, id }: StoredResource<Campaign>): PageKey {
  return { atMs: createdAt.getTime(), id }
}

function matchesIn(row: StoredResource<Campaign>, { fields, folded }: CampaignSearchPlan): Match[] {
  const values: Record<CampaignSearchField, readonly string[]> = {
    id: [row.id],
    name: [row.name],
    status: [row.status],
    tags: row.tags,
  }
  return fields.flatMap((field) =>
    values[field].filter((value) => fold(value).includes(folded)).map((value) => ({ field, value })),
  )
}
