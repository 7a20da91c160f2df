import type { Stores } from '../../../src/stores/open.ts'
import { rowsOf } from '../../import/runImport.ts'
import { type Acknowledged, cost, dayOf, revenue } from './changes.ts'

/**
 * Compares every table of an account with the acknowledged rows, by plain counts.
 * @returns a line per row that is missing, wrong or stored twice
 */
export async function compareWith(acknowledged: Acknowledged, stores: Stores, accountId: string): Promise<string[]> {
  const { clicks, conversions, serverEvents, pixelEvents, campaigns } = acknowledged
  const condition = `account_id = '${accountId}'`
  const compare = async (what: string, sql: string, expected: readonly string[]) =>
    differing(what, (await rowsOf<object>(stores, sql)).map(lineOf), expected)
  const idsOnce = [...clicks].map((number) => `click-${number} 1`)
  const sumsByDay = [...clicks].map((number) => {
    const status = conversions.get(number)
    const approved = status === 'approved'
    return [dayOf(number), 1, cost, +approved, +(status === 'pending'), approved ? revenue.approved : 0].join(' ')
  })
  const compareSums = (table: string, day: string, dimension: string) =>
    compare(
      table,
      `SELECT ${day} AS utc_day, sum(clicks), toFloat64(sum(cost)), sum(conversions), sum(pending_conversions),
        toFloat64(sum(revenue))
      FROM ${table} WHERE ${condition} ${dimension} GROUP BY utc_day`,
      sumsByDay,
    )
  const events = (origin: string) =>
    `SELECT id, count() FROM pixel_events FINAL WHERE ${condition} AND origin = '${origin}' GROUP BY id`
  const storedCampaigns = await stores.postgres<{ id: string }[]>`
    SELECT id FROM campaigns WHERE account_id = ${accountId}`
  const found = await Promise.all([
    // Not FINAL: a click that is stored twice makes sums wrong after a merge.
    compare('clicks', `SELECT id, count() FROM clicks WHERE ${condition} GROUP BY id`, idsOnce),
    compare('click_index', `SELECT id, count() FROM click_index FINAL WHERE ${condition} GROUP BY id`, idsOnce),
    compare(
      'conversions',
      `SELECT id, status, toFloat64(revenue_base), click_at IS NOT NULL, count()
      FROM conversions FINAL WHERE ${condition} GROUP BY ALL`,
      [...conversions].map(([number, status]) => `conversion-${number} ${status} ${revenue[status]} 1 1`),
    ),
    compareSums('sums_by_day', 'day', `AND dimension = 'country'`),
    compareSums('sums_by_day_and_campaign', 'day', `AND dimension = 'country'`),
    compareSums('sums_by_quarter_hour', 'toDate(bucket)', ''),
    compare('server events', events('server'), [...serverEvents].map(once)),
    compare('pixel events', events('browser'), [...pixelEvents].map(once)),
  ])
  return [
    ...found.flat(),
    ...differing(
      'campaigns',
      storedCampaigns.map(({ id }) => id),
      [...campaigns],
    ),
  ]
}

const once = (id: string) => `${id} 1`

function lineOf(row: object): string {
  return Object.values(row).join(' ')
}

/** @returns a message per line that only one of the lists has; order does not matter */
export function differing(what: string, stored: readonly string[], expected: readonly string[]): string[] {
  const [present, wanted] = [new Set(stored), new Set(expected)]
  return [
    ...expected.filter((line) => !present.has(line)).map((line) => `${what}: ${line} is missing`),
    ...stored.filter((line) => !wanted.has(line)).map((line) => `${what}: ${line} is wrong or superfluous`),
  ]
}
