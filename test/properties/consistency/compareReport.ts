import { expect } from 'vitest'
import { type Dimension, dimensions } from '../../../schema/dimensions.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { StatsOverview } from '../../../schema/stats.ts'
import type { TestApp } from '../../kit/app.ts'
import { parameterOf, type Window as ReportWindow, writeQuery } from '../reports/generators.ts'
import { addDays, dateOf, startOfDate } from '../reports/localTime.ts'
import { expectedReport } from '../reports/model.ts'
import type { Reads, Window } from './generators.ts'
import { metricsOfLists } from './lists.ts'
import type { Model } from './model.ts'

const dayMs = 86_400_000

/**
 * Reads a report with any dimensions, filters, zone and comparison. Its rows equal a plain count; its totals equal the
 * overview and the lists.
 * @param isThorough whether reports by each of all dimensions are read too, for the same totals
 */
export async function compareReport(
  api: TestApp,
  { key, nowMs, model }: { key: string; nowMs: number; model: Model },
  { report, tz, window, limit }: Reads,
  isThorough: boolean,
): Promise<void> {
  const todayMs = nowMs - (nowMs % dayMs)
  const reportWindow = windowOf(window, nowMs)
  const { fromMs, untilMs } = reportWindow.resolve(tz)
  // Reports by hour have at most 31 local days, of which one may have 25 hours.
  const isShort = untilMs - fromMs <= 31 * dayMs
  const allowed = (dimension: Dimension) => isShort || dimension !== 'hour'
  const chosen = report.dimensions.filter(allowed)
  const query = writeQuery({ ...report, dimensions: chosen.length > 0 ? chosen : ['day'] }, tz, reportWindow)

  const atEpoch = <Row extends { atMs: number }>(row: Row) => ({ ...row, atMs: todayMs + row.atMs })
  const rows = { clicks: model.clicks.map(atEpoch), conversions: model.conversions.map(atEpoch) }
  const expected = expectedReport(query, rows, nowMs)
  const [{ data, totals, bucketCount, previous }, overview] = await Promise.all([
    api.read(`/reports?${query.text}`, key, ReportResponse),
    api.read(`/stats/overview?${query.statsText}`, key, StatsOverview),
  ])
  const shown = data.map(({ name: _name, dimensions: _dimensions, ...row }) => row)
  expect([query.text, bucketCount, totals]).toEqual([query.text, expected.bucketCount, expected.totals])
  expect([query.text, shown]).toEqual([query.text, expected.data])
  expect([query.text, previous?.totals]).toEqual([
    query.text,
    'previous' in expected ? expected.previous.totals : undefined,
  ])
  expect([query.statsText, overview.totals, overview.previous]).toEqual([query.statsText, totals, previous])

  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(untilMs).toISOString()}`
  const filtered = [range, ...query.filters.map(parameterOf)].join('&')
  expect([filtered, await metricsOfLists(api, key, filtered, limit)]).toEqual([filtered, totals])

  for (const dimension of isThorough ? dimensions.filter(allowed) : []) {
    const grouped = await api.read(`/reports?group_by=${dimension}&limit=1&${query.statsText}`, key, ReportResponse)
    expect([dimension, grouped.totals, grouped.previous]).toEqual([dimension, totals, previous])
  }
}

/** A window as parameters, with dates relative to the present UTC day. */
function windowOf(window: Window, nowMs: number): ReportWindow {
  const todayMs = nowMs - (nowMs % dayMs)
  if ('days' in window) {
    return {
      text: `days=${window.days}`,
      resolve: (zone) => {
        const today = dateOf(nowMs, zone)
        return {
          fromMs: startOfDate(addDays(today, 1 - window.days), zone),
          untilMs: startOfDate(addDays(today, 1), zone),
        }
      },
    }
  }
  if ('fromDay' in window) {
    const today = dateOf(nowMs, 'UTC')
    const [from, to] = [addDays(today, window.fromDay), addDays(today, window.toDay ?? 0)]
    return {
      text: `from=${from}&to=${to}`,
      resolve: (zone) => ({ fromMs: startOfDate(from, zone), untilMs: startOfDate(addDays(to, 1), zone) }),
    }
  }
  const range = { fromMs: todayMs + window.fromMs, untilMs: todayMs + window.toMs }
  const [from, to] = [range.fromMs, range.untilMs].map((atMs) => new Date(atMs).toISOString())
  return { text: `from=${from}&to=${to}`, resolve: () => range }
}
