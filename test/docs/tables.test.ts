// @module-tag all

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { namedTables } from '../../schema/metadata.ts'
import { addGauges } from '../../src/api/health/gauges.ts'
import { openEventMetrics } from '../../src/events/prometheusMetrics.ts'
import { openFeedMetrics } from '../../src/feed/metrics.ts'
import { openMetrics } from '../../src/http/prometheusMetrics.ts'
import { resourceTables } from '../../src/import/resourceNames.ts'
import { packageRoot } from '../../src/package.ts'
import { changing, metadata } from '../../src/packages/sync/source/resources.ts'
import { rowTables } from '../../src/query/attributes.ts'
import { SettingsSchema } from '../../src/settings/settings.ts'
import type { Stores } from '../../src/stores/open.ts'
import { personalTables } from '../../src/writer/erasure/personalFields.ts'
import { describeDifference } from '../../src/writer/repair/differences.ts'
import { type Finding, kinds } from '../../src/writer/repair/kinds.ts'
import { agedTables } from '../../src/writer/retention/removedRows.ts'
import { alertRules, alertValue } from '../deploy/prometheusRules.ts'

const pageOf = (name: string) => join(packageRoot, 'docs', name)
const textOf = (name: string) => readFileSync(pageOf(name), 'utf8')

// `npm run test:all -- -u` regenerates the tables.
it.each([
  ['setup.md', 'settings', settingsTable],
  ['monitoring.md', 'alerts', alertsTable],
  ['sql.md', 'questions', questionsTable],
] as const)('docs/%s lists all %s', async (page, name, tableOf) => {
  await expect(replaceTable(textOf(page), name, tableOf())).toMatchFileSnapshot(pageOf(page))
})

it('docs/restore.md explains each kind of difference, with lines as verify prints them', () => {
  const rows = textOf('restore.md').matchAll(/^\| (`acme .*?`) +\| `(\w+)` +\| [^|]+\| (none\b)?/gm)
  const lines = differences.map((one) => `\`${describeDifference({ accountId: 'acme', ...one })}\``)
  const explained = kinds.map(({ kind, repair }) => {
    const ofKind = lines.filter((_, index) => differences[index]?.kind === kind)
    return [ofKind.join('<br>'), kind, repair ? undefined : 'none']
  })
  expect(Array.from(rows, ([, ...cells]) => cells)).toEqual(explained)
})

const sums = { stored: { clicks: 9 }, actual: { clicks: 10 } }
const differences: readonly (Finding & { kind: string; [field: string]: unknown })[] = [
  { kind: 'damaged', table: 'clicks', path: '/…/202611_1_1_0/', reason: 'Checksum mismatch' },
  { kind: 'ahead_of_watermark', table: 'clicks', month: '2026-11-01', rows: 3 },
  { kind: 'not_erased', table: 'clicks', rows: 3 },
  { kind: 'not_removed', table: 'clicks', rows: 3 },
  { kind: 'duplicate_ids', table: 'clicks', month: '2026-11-01', ids: 3 },
  { kind: 'duplicate_ids', table: 'conversions', month: '2026-11-01', ids: 3 },
  { kind: 'derived', table: 'sums_by_day', day: '2026-11-20', keys: 3, sums },
  { kind: 'derived', table: 'click_index', day: '2026-11-20', keys: 3 },
  { kind: 'wrong_copies', table: 'converted_click_rows', rows: 3 },
  { kind: 'unattributed', table: 'conversions', conversions: 3 },
  { kind: 'missing_rows', table: 'clicks', month: '2026-11-01', confirmed: 10, stored: 7 },
  { kind: 'watermark_in_future', table: 'clicks', watermark: '2036-11-20T00:00:00.000Z' },
  { kind: 'removed_month', table: 'sums_by_day', month: '2026-11-01' },
]

it('deploy/prometheus-rules.yaml uses only existing metrics', async () => {
  const known = new Set((await openRegistry().getMetricsAsJSON()).map(({ name }) => name))
  for (const rule of alertRules.filter(({ alert }) => alert !== 'TributaryDown')) {
    const names = [...alertValue(rule).matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b/g)].map(([name]) => name)
    const metrics = names.filter((name) => !['histogram_quantile', 'over_ceiling'].includes(name))
    expect(metrics.length, rule.alert).toBeGreaterThan(0)
    for (const name of metrics) expect(known, rule.alert).toContain(name.replace(/_bucket$/, ''))
  }
})

it('lists of tables name all base tables, which no view fills', () => {
  const schema = readFileSync(join(packageRoot, 'clickhouse/schema.sql'), 'utf8')
  const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).sort()
  const tables = namesIn(schema, /^CREATE TABLE (\w+)/gm)
  const filled = namesIn(schema, /^CREATE MATERIALIZED VIEW \w+ TO (\w+)/gm)
  const base = tables.filter((name) => !filled.includes(name))
  const scaling = textOf('scaling.md')
  expect(namesIn(scaling, /INSERT INTO tributary_two\.\w+ SELECT \* FROM tributary\.(\w+) FINAL/g)).toEqual(base)
  const distributed = scaling.split('| distributed by')[1]?.split('| sums ')[0] ?? ''
  expect(namesIn(distributed, /`(\w+)`/g)).toEqual(tables.filter((name) => !name?.startsWith('sums_')))
  const copies = 'converted_click_rows'
  expect([...rowTables, 'pixel_events', copies].sort()).toEqual(base)
  expect([...Object.values(resourceTables), copies].sort()).toEqual([...base, ...namedTables].sort())
  // Conversions are kept.
  expect([...agedTables.map(({ name }) => name), 'conversions'].sort()).toEqual(base)
  const ofVisitors = base.filter((name) =>
    schema.split(`CREATE TABLE ${name}\n`)[1]?.split('\n)')[0]?.includes('visitor_id'),
  )
  expect(personalTables.map(({ name }) => name).sort()).toEqual(ofVisitors)
  const facts = base.filter((name) => name !== copies).map((name) => (name === 'pixel_events' ? 'events' : name))
  const copied = [...changing, ...metadata].map(({ name }) => name).sort()
  expect(copied).toEqual([...facts, ...namedTables].sort())
  expect(namesIn(textOf('dbt/models/sources.yml'), /^ {6}- name: (\w+)/gm)).toEqual(copied)
  expect(readdirSync(pageOf('dbt/models/staging')).sort()).toEqual(rowTables.map((name) => `stg_${name}.sql`))
  const pages = 'sync.md feed.md imports.md setup.md tools/power-bi.md ../README.md ../src/packages/sync/README.md'
  for (const page of pages.split(' ')) {
    const lists = textOf(page).match(/clicks\W+(then )?conversions\b(\W+(and )?[a-z-]+){4}/gi)
    expect(
      lists?.filter((list) => !/costs|revenue/.test(list)),
      page,
    ).toEqual([])
  }
})

function alertsTable(): string[][] {
  const rows = alertRules.map((rule) => {
    const lasting = rule.for ? ` for ${rule.for}` : ''
    return [`\`${rule.alert}\``, `\`${rule.expr}\`${lasting}`, rule.annotations.summary, rule.annotations.action]
  })
  return [['alert', 'fires while', 'meaning', 'action'], ...rows]
}

/** The question of each file is the beginning of its head. */
function questionsTable(): string[][] {
  const rows = readdirSync(pageOf('sql')).map((file) => {
    const [head = ''] = textOf(`sql/${file}`).split('\n-- Columns: ')
    return [head.replaceAll(/(^|\n)-- /g, ' ').trim(), `[${basename(file, '.sql')}](sql/${file})`]
  })
  return [['question', 'file'], ...rows]
}

function settingsTable(): string[][] {
  const rows = Object.entries(SettingsSchema.properties).map(([name, schema]) => [
    `\`${name}\``,
    'default' in schema && schema.default !== 0 ? `\`${schema.default}\`` : 'off',
    schema.description ?? '',
  ])
  return [['variable', 'default', 'meaning'], ...rows]
}

function openRegistry() {
  const metrics = openMetrics()
  addGauges(metrics, {} as Stores, { redis: { isUnavailable: false }, now: Date.now })
  openEventMetrics(metrics.registry, { inFlight: () => 0, queued: () => 0 })
  openFeedMetrics(metrics, () => undefined)
  return metrics.registry
}

/** Replaces the table between the two comments of that name, aligned as the formatter requires. */
function replaceTable(text: string, name: string, rows: readonly string[][]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = (escaped[0] ?? []).map((_, column) => Math.max(...escaped.map((row) => row[column]?.length ?? 0)))
  const lines = escaped.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const table = [lines[0], rule, ...lines.slice(1)].join('\n')
  return text.replace(
    new RegExp(`(<!-- ${name}:.*-->\n)[^]*?(<!-- /${name} -->)`),
    (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
  )
}
