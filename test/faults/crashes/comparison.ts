import type { Stores } from '../../../src/stores/open.ts'
import { rowsOf } from '../../import/runImport.ts'
import { type Acknowledged, cost, dayOf, revenue } from './changes.ts'

/**
 * Compares every table of an account with what was acknowledged, by a plain count.
 * @returns a line for each row that is missing, wrong or stored twice
 */
export async function compareWith(acknowledged: Acknowledged, stores: Stores, accountId: string): Promise<string[]> {
  const { clicks, conversions, serverEvents, pixelEvents, campaigns } = acknowledged
  const ours = `account_id = '${accountId}'`
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
      FROM ${table} WHERE ${ours} ${dimension} GROUP BY utc_day`,
      sumsByDay,
    )
  const events = (origin: string) =>
    `SELECT id, count() FROM pixel_events FINAL WHERE ${ours} AND origin = '${origin}' GROUP BY id`
  const storedCampaigns = await stores.postgres<{ id: string }[]>`
    SELECT id FROM campaigns WHERE account_id = ${accountId}`
  const found = await Promise.all([
    // Not FINAL: a click that is stored twice makes sums wrong once its rows have been merged.
    compare('clicks', `SELECT id, count() FROM clicks WHERE ${ours} GROUP BY id`, idsOnce),
    compare('click_index', `SELECT id, count() FROM click_index FINAL WHERE ${ours} GROUP BY id`, idsOnce),
    compare(
      'conversions',
      `SELECT id, status, toFloat64(revenue_base), click_at IS NOT NULL, count()
      FROM conversions FINAL WHERE ${ours} GROUP BY ALL`,
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

/** Lines that only one of two lists has, each list in any order. */
function differing(what: string, stored: readonly string[], expected: readonly string[]): string[] {
  const [present, wanted] = [new Set(stored), new Set(expected)]
  return [
    ...expected.filter((line) => !present.has(line)).map((line) => `${what}: ${line} is missing`),
    ...stored.filter((line) => !wanted.has(line)).map((line) => `${what}: ${line} is wrong or too much`),
  ]
}
