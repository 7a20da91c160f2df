import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { WriteStream } from 'node:tty'
import type { TSchema } from '@sinclair/typebox'
import { Option } from 'commander'
import { conversionAttributeNames } from '../../schema/dimensions.ts'
import { filterNames } from '../../schema/filters.ts'
import type { Metric } from '../../schema/metrics.ts'
import { ReportQuery, type ReportResponse } from '../../schema/report.ts'
import { scopes } from '../../schema/scopes.ts'
import { reportCsv } from '../api/reports/csv.ts'
import { planReport, type ReportPlan } from '../api/reports/plan.ts'
import { runReport } from '../api/reports/run.ts'
import { parseQuery, queryValidator, type RawQuery } from '../http/validation.ts'
import { printable } from '../import/readers/printable.ts'
import type { Problem } from '../problem.ts'
import { checkCsvParameters } from '../rows/csvEscape.ts'
import { csvFinisher } from '../rows/csvSerializer.ts'
import { openEntityValues } from '../rows/entityValues.ts'
import { openNameCache } from '../rows/nameCache.ts'
import { readFreshness } from '../stores/postgres/freshness.ts'
import { readRetainedRanges } from '../stores/postgres/retainedRanges.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { accountOption, readAsApi } from './options.ts'
import { table } from './table.ts'

const formats = ['table', 'csv', 'json'] as const

interface ReportOptions {
  account: string
  all?: boolean
  format?: (typeof formats)[number]
  limit?: string[]
}

/** Parameters that select rows: the help lists their names in one line. */
const filters: readonly string[] = [...filterNames, ...conversionAttributeNames]

/** Parameters of the API by the option of each; the command has its own `--format`, and makes all pages itself. */
const parameters = Object.entries<TSchema>(ReportQuery.properties)
  .filter(([name]) => name !== 'format' && name !== 'previous_until')
  .map(([name, schema]) => ({ name, option: parameterOption(name, schema) }))

/** What a table shows unless `--metrics` says more: all metrics are wider than a terminal. */
const tableMetrics: readonly Metric[] = ['clicks', 'conversions', 'revenue', 'cost', 'profit', 'roi', 'cr', 'epc']

/** `report`: prints what `GET /reports` returns, read from the stores. */
export function addReportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('report')
    .description('Print a report of an account: the rows and numbers of GET /reports.')
    .addOption(accountOption())
    .option('--all', 'read all rows, not only the first --limit; CSV without --limit has all rows')
    .addOption(new Option('--format <format>', 'default: table on a terminal, else csv').choices(formats))
    .notes(`
The options are the parameters of the API, and --<filter> <values>: ${filters.map(dashed).join(', ')}.
A table has names instead of ids, and the totals of all rows.

Examples:
  tributary report --account acme --group-by campaign,country --days 7 --sort=-profit --limit 20
  tributary report --account acme --group-by sub1 --min-clicks 100 --format csv > sub1.csv`)
    .action((options: ReportOptions) => printReport(context, options))
  for (const { option } of parameters) command.addOption(option)
}

/** Every value of an option is kept, so that the API's validation can reject the second one. */
function parameterOption(name: string, { type, description = '' }: TSchema): Option {
  const value = type === 'boolean' ? '[value]' : '<value>'
  const option = new Option(`--${dashed(name)} ${value}`, description)
    .preset('true')
    .argParser((text: string, before: string[] = []) => [...before, text])
  return filters.includes(name) ? option.hideHelp() : option
}

function dashed(name: string): string {
  return name.replaceAll('_', '-')
}

async function printReport(context: CommandContext, { all = false, ...options }: ReportOptions) {
  const isTerminal = (context.stdout as Partial<WriteStream>).isTTY === true
  const format = context.json ? 'json' : (options.format ?? (isTerminal ? 'table' : 'csv'))
  const query = readQuery(options, format)
  // JSON and tables say that they are truncated; a program would read a truncated CSV as a whole one.
  const isAll = all || (format === 'csv' && options.limit === undefined)
  const { stores, account } = await context.openAccount(options.account)
  const accountId = account.id
  const caller = {
    accountId,
    currency: account.currency,
    view: null,
    scopes: new Set(scopes),
    retained: await readRetainedRanges(stores.postgres, accountId),
    freshness: await readFreshness(stores.postgres, accountId),
    entityValues: await openEntityValues(stores.postgres, Date.now)(accountId, query),
  }
  const nowMs = Date.now()
  const planOf = (one: ReportQuery) => readAsApi(() => planReport(one, caller, nowMs), optionText)
  const plan = planOf(query)
  const signal = context.interrupted
  const reading = { stores, nameCache: openNameCache(stores.postgres), signal }
  let page = await runReport(reading, plan)
  const data = [...page.data]
  while (isAll && page.truncated) {
    if (page.next === null)
      throw new CommandError(`The report has ${page.bucketCount} rows, more than its pages can have; use filters.`)
    page = await runReport(reading, planOf(validated(parseQuery(page.next))))
    data.push(...page.data)
  }
  const texts = textsOf({ ...page, data }, plan, query, format)
  await pipeline(Readable.from(texts), context.stdout, { signal, end: false })
}

/** @throws UsageError with the message of the API, about options */
function readQuery(options: object, format: string): ReportQuery {
  const texts = options as Record<string, string[] | undefined>
  const given = parameters.map(({ name, option }) => [name, texts[option.attributeName()] ?? []] as const)
  const query = validated(Object.fromEntries(given.filter(([, values]) => values.length > 0)))
  readAsApi(() => checkCsvParameters(query, format), optionText)
  return query
}

/** @throws UsageError */
function validated(query: RawQuery): ReportQuery {
  const read = queryValidator(ReportQuery)(query)
  if ('error' in read) throw new UsageError(optionText(read.error))
  return read.value as ReportQuery
}

/** Where a message of the API names a parameter; elsewhere the same word, such as `from`, is part of the sentence. */
const parameterPlaces = /^\w+|(?<=^\w+ and )\w+(?= exclude)|\bcompare(_from|_to)?\b|(?<=(omit|requires) )\w+/g

/** @returns the message with the options of the command instead of the parameters of the API */
function optionText({ message }: Problem): string {
  const optionOf = (word: string) => (word in ReportQuery.properties ? `--${dashed(word)}` : word)
  return message.replace('format=', '--format ').replace(parameterPlaces, optionOf)
}

function* textsOf(report: ReportResponse, plan: ReportPlan, query: ReportQuery, format: string): Generator<string> {
  if (format === 'json') return yield `${printable(JSON.stringify(report))}\n`
  if (format === 'table') return yield `${reportTable(report, plan, query)}\n`
  const totalsOf = query.totals ? plan.offset + report.data.length : undefined
  const finish = csvFinisher(query)
  const { texts } = reportCsv(report, plan, { csvEscape: query.csv_escape, totalsOf })
  for (const text of texts) yield finish(Buffer.from(text)).toString()
}

function reportTable({ data, totals, previous, bucketCount }: ReportResponse, plan: ReportPlan, query: ReportQuery) {
  const metrics = query.metrics ? plan.metrics : tableMetrics
  const columns = [...plan.dimensions, ...metrics, ...(previous ? metrics.map((name) => `previous_${name}`) : [])]
  const row = (labels: object, now: object, before: object | null | undefined) => ({
    ...Object.fromEntries(Object.entries(before ?? {}).map(([name, value]) => [`previous_${name}`, value])),
    ...now,
    ...labels,
  })
  const rows = data.map(({ dimensions, previous: before, ...now }) => {
    const labels = Object.entries(dimensions).map(([dimension, { id, name }]) => [dimension, name ?? id])
    return row(Object.fromEntries(labels), now, before)
  })
  const total = data.length < bucketCount ? `(total of ${bucketCount} rows)` : '(total)'
  const label = Object.fromEntries(plan.dimensions.map((dimension, index) => [dimension, index === 0 ? total : '']))
  return table<Record<string, unknown>>([...rows, row(label, totals, previous?.totals)], '', columns)
}
