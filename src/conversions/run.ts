import type { Conversion } from '../../schema/conversion.ts'
import { conversionKey, conversionWriter, readConversions } from '../conversionRows.ts'
import type { Room } from '../room.ts'
import { nothing } from '../sql/fragment.ts'
import { findLatest } from '../sql/latest.ts'
import { type PageOf, toPage } from '../sql/page.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionQuestion } from './sql.ts'

/**
 * Reads one page of conversions, newest first, each in its latest state and under the filters that this one matches.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listConversions(
  room: Room,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<PageOf<Conversion>> {
  const question = conversionQuestion(plan)
  const rows = await findLatest(
    room.stores.clickhouse,
    question,
    plan.after,
    plan.limit + 1,
    { label: 'conversions.page', signal },
    (keys) =>
      readConversions(room, plan.accountId, keys, {
        ...{ state: question.state, extra: nothing, label: 'conversions.rows', signal },
      }),
  )
  const page = toPage(rows, plan.limit, conversionKey, plan.boundTo)
  return { ...page, data: page.data.map(await conversionWriter(room, plan, page.data)) }
}
