import type { TSchema } from '@sinclair/typebox'
import { beforeAll, describe, expect, it } from 'vitest'
import { Click } from '../../schema/click.ts'
import { Conversion } from '../../schema/conversion.ts'
import { csvHeader } from '../../src/rows/csvSerializer.ts'
import { useTestApp } from '../kit/app.ts'
import { csvRows } from '../kit/readRows.ts'
import { storeClicks, storeConversions, storeMetadata } from '../kit/rows.ts'

const api = useTestApp()
let key: string

/** Texts that a spreadsheet runs as formulas, and texts that it does not. */
const starts = ['=', '+', '-', '@', '\t', '\r']
const texts = [...starts.map((start) => `${start}HYPERLINK("x")\r\n=2`), "'=1", ' =1', 'a=1', '\n=1', '"', '']
const entityIds = ['campaign_id', 'offer_id', 'landing_page_id', 'traffic_source_id']
const tables = ['campaigns', 'offers', 'landing_pages', 'traffic_sources'] as const
const shared = [...entityIds, 'visitor_id', 'country', 'device', 'os', 'browser', 'currency']
const subIds = Array.from({ length: 10 }, (_, index) => `sub${index + 1}`)
const clickTexts = `region city os_version browser_version language referrer user_agent ip
  external_click_id utm_source utm_medium utm_campaign utm_term utm_content`.split(/\s+/)
const conversionTexts = ['external_status', 'event_name', 'click_id', 'transaction_id', 'coupon_code']
const fill = (columns: readonly string[], text: string) => Object.fromEntries(columns.map((column) => [column, text]))

beforeAll(async () => {
  key = await api.account('acme')
  const named = texts.filter(Boolean).map((id) => ({ id, name: id }))
  for (const table of tables) await storeMetadata(api.stores, table, 'acme', named)
  const idOf = (text: string, index: number) => `${text.startsWith('-') ? '-' : 'k'}${index}`
  const clicks = texts.map((text, index) => ({
    id: idOf(text, index),
    clicked_at: '2026-11-20 10:00:00.000',
    cost: '-1.5',
    cost_base: '-1.5',
    ...fill([...shared, ...subIds, ...clickTexts], text),
  }))
  await storeClicks(api.stores, 'acme', clicks)
  const conversions = texts.map((text, index) => ({
    id: idOf(text, index),
    converted_at: '2026-11-20 10:00:00.000',
    revenue: '-2.5',
    revenue_base: '-2.5',
    ...fill([...shared, ...subIds, ...conversionTexts], text),
  }))
  await storeConversions(api.stores, 'acme', conversions)
})

const readRecords = async (path: string) => (await csvRows((await api.get(path, key)).body)) as Record<string, string>[]

/** Fields with arbitrary text: neither times nor enumerations. */
function freeTextsOf({ properties }: { properties: Record<string, TSchema> }): string[] {
  const enumerations = ['source', 'status', 'baseCurrency', 'subIds']
  const texts = Object.entries(properties)
    .filter(([name, { type, format }]) => [type].flat().includes('string') && !format && !enumerations.includes(name))
    .map(([name]) => name)
  return [...texts, ...subIds]
}

describe.each([
  ['/clicks', Click],
  ['/conversions', Conversion],
] as const)('csv_escape=formulas on %s', (path, schema) => {
  it("prefixes every text cell that begins like a formula with ', and changes nothing else", async () => {
    const plain = await readRecords(`${path}?format=csv`)
    const escaped = await readRecords(`${path}?format=csv&csv_escape=formulas`)
    const changed = new Set<string>()
    const expected = plain.map((record) =>
      Object.fromEntries(
        Object.entries(record).map(([name, cell]) => {
          if (!/^[=+\-@\t\r]/.test(cell) || !Number.isNaN(Number(cell))) return [name, cell]
          changed.add(name)
          return [name, `'${cell}`]
        }),
      ),
    )
    // Only ids are text that can look like a number.
    for (const record of expected) if (record.id?.startsWith('-')) record.id = `'${record.id}`
    expect(escaped).toEqual(expected)
    expect([...changed, 'id'].sort()).toEqual(freeTextsOf(schema).sort())
  })
})

describe('csv_escape=formulas', () => {
  it.each(['campaign', 'os'])('escapes ids and names of a report by %s', async (dimension) => {
    const path = `/reports?group_by=${dimension}&format=csv`
    const cells = async (parameters: string) => {
      const rows = await readRecords(`${path}${parameters}`)
      return rows.map((row) => [row[`${dimension}_id`] ?? '', row[`${dimension}_name`] ?? '', row.cost] as const)
    }
    const escapeCell = (cell: string) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)
    const escaped = await cells('&csv_escape=formulas')
    expect(escaped).toEqual((await cells('')).map(([id, name, cost]) => [escapeCell(id), escapeCell(name), cost]))
    expect(escaped.filter(([id]) => id.startsWith("'")).length).toBeGreaterThanOrEqual(starts.length)
    expect(Number(escaped[0]?.[2])).toBeLessThan(0)
  })

  it('escapes the names of columns as well', () => {
    expect(csvHeader(['=a', 'b'], 'formulas')).toBe('"\'=a","b"\n')
    expect(csvHeader(['=a'], undefined)).toBe('"=a"\n')
  })
})
