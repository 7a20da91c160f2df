import type { ConversionSearchField, ConversionSearchPage, Match } from '../../schema/search.ts'
import { conversionKey, conversionWriter, readConversions, type StoredConversion } from '../conversionRows.ts'
import type { NamesById } from '../names.ts'
import type { Room } from '../room.ts'
import { findLatest } from '../sql/latest.ts'
import { type PageKey, toPage } from '../sql/page.ts'
import { askPostgres, type Postgres } from '../stores/postgres.ts'
import { fold, likeLoosely } from './fold.ts'
import type { ConversionSearchPlan } from './plan.ts'
import { conversionSearchQuestion } from './sql.ts'

/**
 * Reads one page of the conversions that hold a text, newest first, each with the fields that hold it.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function searchConversions(
  room: Room,
  plan: ConversionSearchPlan,
  signal: AbortSignal,
): Promise<ConversionSearchPage> {
  const { clickhouse, postgres } = room.stores
  const envelope = { query: plan.query, searchedFields: [...plan.fields] }
  const [campaigns, offers] = await Promise.all([
    plan.fields.includes('campaignName') ? findNamed(postgres, 'campaigns', plan) : noNames,
    plan.fields.includes('offerName') ? findNamed(postgres, 'offers', plan) : noNames,
  ])
  const question = conversionSearchQuestion(plan, [...campaigns.keys()], [...offers.keys()])
  if (!question) return { data: [], nextCursor: null, hasMore: false, ...envelope }
  /** The rows at these keys that hold the text, and where. */
  const readMatching = async (keys: PageKey[]) => {
    const rows = await readConversions(room, plan.accountId, keys, {
      state: question.state,
      label: 'conversions.search.rows',
      signal,
    })
    return rows.flatMap((row) => {
      const matches = matchesIn(row, plan, campaigns.get(row.campaignId), offers.get(row.offerId))
      return matches.length === 0 ? [] : [{ row, matches }]
    })
  }
  const asking = { label: 'conversions.search', signal }
  const found = await findLatest(clickhouse, question, plan.after, plan.limit + 1, asking, readMatching)
  const page = toPage(found, plan.limit, ({ row }) => conversionKey(row), plan.boundTo)
  const write = await conversionWriter(
    room,
    plan,
    page.data.map(({ row }) => row),
  )
  const data = page.data.map(({ row, matches }) => ({ ...write(row), matched: true as const, matches }))
  return { ...page, data, ...envelope }
}

function matchesIn(
  row: StoredConversion,
  { fields, folded }: ConversionSearchPlan,
  campaignName: string | undefined,
  offerName: string | undefined,
): Match[] {
  const values: Record<ConversionSearchField, string | undefined> = { ...row, campaignName, offerName }
  return fields.flatMap((field) => {
    const value = values[field]
    return value !== undefined && fold(value).includes(folded) ? [{ field, value }] : []
  })
}

const noNames: NamesById = new Map()

/**
 * Finds the campaigns or offers whose name holds the text.
 * @throws Problem `unavailable`
 */
async function findNamed(
  postgres: Postgres,
  table: 'campaigns' | 'offers',
  { accountId, folded }: ConversionSearchPlan,
): Promise<NamesById> {
  const rows = await askPostgres(
    postgres<{ id: string; name: string }[]>`
      SELECT id, name
      FROM ${postgres(table)}
      WHERE account_id = ${accountId} AND search_text LIKE ${likeLoosely(folded)}`,
  )
  return new Map(rows.filter(({ name }) => fold(name).includes(folded)).map(({ id, name }) => [id, name]))
}
