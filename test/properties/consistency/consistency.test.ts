import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { StatsDaily, StatsOverview } from '../../../schema/stats.ts'
import { post } from '../../api/events/send.ts'
import { importContent } from '../../import/runImport.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { changeTables, startMerges, stopMerges } from '../../kit/rows.ts'
import { compareReport } from './compareReport.ts'
import { campaigns, type History, history, type Reads, type Step, type Window } from './generators.ts'
import { metricsOfLists, readAllPages } from './lists.ts'
import {
  type ClickLine,
  type ConversionLine,
  type CountedClick,
  type CountedConversion,
  calendarOf,
  dimensions,
  inUnits,
  Model,
  metricsOf,
  reportOf,
  type Tally,
} from './model.ts'

const dayMs = 86_400_000

let api: TestApp

beforeAll(async () => {
  api = await openTestApp()
})
afterAll(async () => {
  for (const table of tables) await startMerges(api.stores, table)
  await api?.close()
})

describe('the consistency law', () => {
  it('holds after every step: overview, daily stats, reports and lists equal a plain count, to the millionth', async () => {
    let accounts = 0
    await fc.assert(
      fc.asyncProperty(history, async (generated) => {
        accounts += 1
        const { nowMs, currency } = generated
        api.setNow(nowMs)
        const accountId = `account-${accounts}`
        const key = await api.account(accountId, { currency })
        const named = campaigns.map((id) => ({ id, name: id }))
        await importContent(api.stores, accountId, 'campaigns', named)
        await mergeNow()
        const account = { accountId, key, nowMs, currency, model: new Model(), files: [] as File[] }
        for (const [index, [step, reads]] of generated.steps.entries()) {
          await apply(account, step)
          await compareReads(account, reads)
          await compareReport(api, account, reads, index === generated.steps.length - 1)
        }
      }),
      { numRuns: randomCases(2) },
    )
  })
})

const tables = [
  ...['clicks', 'click_index', 'conversions', 'conversion_index', 'converted_clicks'],
  ...['sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour'],
]

/**
 * Merges every table and then stops merges: until the next call, row versions stay unmerged, and readers have to collapse
 * them.
 */
async function mergeNow(): Promise<void> {
  for (const table of tables) {
    await startMerges(api.stores, table)
    await changeTables(api.stores, `OPTIMIZE TABLE ${table} FINAL`)
    await stopMerges(api.stores, table)
  }
}

type File = { resource: 'clicks'; lines: ClickLine[] } | { resource: 'conversions'; lines: ConversionLine[] }

interface Account {
  accountId: string
  key: string
  nowMs: number
  currency: History['currency']
  model: Model
  files: File[]
}

async function apply(account: Account, step: Step): Promise<void> {
  const { files, key } = account
  if (step.kind === 'merge') {
    await mergeNow()
  } else if (step.kind === 'event') {
    const response = await post(api.app, key, { click_id: step.clickId, event_name: 'paid', value: 1e9 })
    const isStored = campaigns.includes(account.model.campaignOf(step.clickId) ?? '')
    expect([step, response.statusCode]).toEqual([step, isStored ? 200 : 404])
  } else if (step.kind !== 'repeat') {
    const { kind: resource, lines } = step
    const file = { resource, lines } as File
    files.push(file)
    await importFile(account, file)
  } else if (files.length > 0) {
    const file = files[step.which % files.length] as File
    await importFile(account, file.resource === 'clicks' ? { ...file, lines: [...file.lines, ...step.more] } : file)
  }
}

async function importFile({ accountId, nowMs, currency, model }: Account, file: File): Promise<void> {
  const todayMs = startOfDay(nowMs)
  const rows: object[] =
    file.resource === 'clicks'
      ? file.lines.map(({ atMs, cost, ...rest }) => ({
          ...rest,
          clickedAt: instant(todayMs + atMs),
          ...amountFields('cost', 'costBase', cost, currency),
        }))
      : file.lines.map(({ atMs, updatedAtMs, createdAtMs, revenue, ...rest }) => ({
          ...rest,
          convertedAt: instant(todayMs + atMs),
          ...(updatedAtMs !== undefined && { updatedAt: instant(todayMs + updatedAtMs) }),
          ...(createdAtMs !== undefined && { createdAt: instant(todayMs + createdAtMs) }),
          ...amountFields('revenue', 'revenueBase', revenue, currency),
        }))
  const expected: Tally =
    file.resource === 'clicks'
      ? model.importClicks(file.lines)
      : model.importConversions(file.lines, JSON.stringify(rows))
  const { inserted, updated, duplicates, rejected } = await importContent(api.stores, accountId, file.resource, rows)
  expect({ inserted, updated, duplicates, rejected }).toEqual(expected)
}

function amountFields(name: string, baseName: string, given: ClickLine['cost'], currency: string): object {
  if (given === undefined) return {}
  const { amount, foreign } = given
  const fields = { [name]: inUnits(BigInt(amount)), ...(foreign && { currency: currency === 'USD' ? 'EUR' : 'USD' }) }
  if (foreign === undefined || foreign === 'unconvertible') return fields
  return 'base' in foreign
    ? { ...fields, [baseName]: inUnits(BigInt(foreign.base)) }
    : { ...fields, exchangeRate: inUnits(BigInt(foreign.exchangeRate)) }
}

/** Reads every endpoint that shows numbers, and compares the responses with counts in plain code. */
async function compareReads({ key, nowMs, model }: Account, reads: Reads): Promise<void> {
  const { tz, days, campaign, limit } = reads
  const todayMs = startOfDay(nowMs)
  const ofCampaign = (row: CountedClick | CountedConversion) =>
    campaign === undefined || row.attributes.campaign === campaign
  const clicks = model.clicks.filter(ofCampaign)
  const conversions = model.conversions.filter(ofCampaign)
  const filter = campaign === undefined ? '' : `&campaign_id=${campaign}`

  const { dates, dateOf } = calendarOf(tz, days, nowMs)
  const dateOfRow = ({ atMs }: { atMs: number }) => dateOf(todayMs + atMs)
  const during = (days: readonly string[]) => (row: { atMs: number }) => days.includes(dateOfRow(row))
  const stats = `days=${days}&tz=${tz}${filter}`
  const [overview, daily] = await Promise.all([
    api.read(`/stats/overview?${stats}`, key, StatsOverview),
    api.read(`/stats/daily?${stats}`, key, StatsDaily),
  ])
  expect(overview.totals).toEqual(metricsOf(clicks.filter(during(dates)), conversions.filter(during(dates))))
  expect(daily.data.map(({ complete: _complete, id: _id, ...day }) => day)).toEqual(
    dates.map((date) => ({ date, ...metricsOf(clicks.filter(during([date])), conversions.filter(during([date]))) })),
  )

  const { query, fromMs, untilMs } = windowQuery(reads.window, todayMs, reads.offset)
  const inWindow = ({ atMs }: { atMs: number }) => todayMs + atMs >= fromMs && todayMs + atMs < untilMs
  const counted = [clicks.filter(inWindow), conversions.filter(inWindow)] as const
  const absolute = counted.map((rows) =>
    rows.map((row) => ({ ...row, atMs: todayMs + row.atMs })),
  ) as unknown as typeof counted
  const reports = await Promise.all(
    dimensions.map((groupBy) => api.read(`/reports?group_by=${groupBy}&${query}${filter}`, key, ReportResponse)),
  )
  for (const { groupBy, data, totals, bucketCount } of reports) {
    const expected = reportOf(groupBy as (typeof dimensions)[number], ...absolute)
    expect([groupBy, data.map(({ name: _name, ...bucket }) => bucket)]).toEqual([groupBy, expected])
    expect([groupBy, totals, bucketCount]).toEqual([groupBy, metricsOf(...counted), expected.length])
  }

  const campaignQuery = filter.replace('&', '')
  const lines = model.listedClicks.filter(({ line }) => campaign === undefined || line.campaignId === campaign)
  const [all, converted, unconverted] = await Promise.all(
    ['', '&converted=true', '&converted=false'].map((more) =>
      readAllPages(api, `/clicks?${campaignQuery}${more}`, limit, key, ClickPage),
    ),
  )
  expect(all?.map(({ id, conversionCount }) => [id, conversionCount])).toEqual(
    lines.map(({ line, conversionCount }) => [line.id, conversionCount]),
  )
  for (const [rows, isConverted] of [
    [converted, true],
    [unconverted, false],
  ] as const) {
    const expected = lines.filter(({ conversionCount }) => conversionCount > 0 === isConverted)
    expect(rows?.map(({ id }) => id)).toEqual(expected.map(({ line }) => line.id))
  }

  const range = `from=${instant(fromMs)}&to=${instant(untilMs)}`
  const listed = await metricsOfLists(api, key, `${range}${filter}`, limit)
  expect(listed).toEqual(metricsOf(...counted))
}

function windowQuery(window: Window, todayMs: number, offset: number) {
  const date = (day: number) => instant(todayMs + day * dayMs).slice(0, 10)
  if ('days' in window) {
    const fromMs = todayMs - (window.days - 1) * dayMs
    return { query: `days=${window.days}`, fromMs, untilMs: todayMs + dayMs }
  }
  if ('fromDay' in window) {
    const { fromDay, toDay } = window
    return {
      query: `from=${date(fromDay)}${toDay === undefined ? '' : `&to=${date(toDay)}`}`,
      fromMs: todayMs + fromDay * dayMs,
      untilMs: todayMs + ((toDay ?? 0) + 1) * dayMs,
    }
  }
  const [fromMs, untilMs] = [todayMs + window.fromMs, todayMs + window.toMs]
  const [from, to] = [fromMs, untilMs].map((atMs) => encodeURIComponent(inOffset(atMs, offset)))
  return { query: `from=${from}&to=${to}`, fromMs, untilMs }
}

function startOfDay(epochMs: number): number {
  return epochMs - (epochMs % dayMs)
}

function instant(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** Formats an instant with a UTC offset in minutes. */
function inOffset(epochMs: number, minutes: number): string {
  if (minutes === 0) return instant(epochMs)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return instant(epochMs + minutes * 60_000).replace('Z', offset)
}
