import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { importContent } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { readPages } from '../../kit/readRows.ts'
import { changeTables } from '../../kit/rows.ts'

const api = useTestApp()

const minuteMs = 60_000
const text = fc.option(
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\t', '\u007f', '\u2028', 'é', '😀', '/'), maxLength: 12 }),
)
const money = fc.option(fc.constantFrom('0', '0.37', '123456789012.345678', '0.000001', '1000000'))
const id = fc.option(fc.constantFrom('spring', 'summer.1'))
const click = fc.record({
  minutesAgo: fc.nat({ max: 3 }),
  campaignId: id,
  offerId: id,
  visitorId: id,
  country: fc.option(fc.constantFrom('DE', 'FR')),
  city: text,
  referrer: text,
  userAgent: text,
  utmTerm: text,
  externalClickId: text,
  subIds: fc.record({ sub1: text, sub10: text }),
  cost: money,
  isBot: fc.boolean(),
  isTest: fc.boolean(),
})

it('the text of a click gives every page the values of the columns, which an export has, also after a change of the columns', async () => {
  const key = await api.account('acme')
  const rows = fc.sample(click, { numRuns: 60, seed: 7 }).map(({ minutesAgo, cost, ...row }, n) => {
    const clickedAt = new Date(testNowMs - minutesAgo * minuteMs).toISOString()
    return `${JSON.stringify({ id: `c${n}`, clickedAt, ...row }).slice(0, -1)}${cost === null ? '' : `,"cost":${cost}`}}\n`
  })
  const imported = await importContent(api.stores, 'acme', 'clicks', rows.join(''))
  expect(imported.rejects).toEqual([])
  const conversions = [0, 1, 1, 2].map((click, n) => ({
    id: `v${n}`,
    clickId: `c${click}`,
    status: 'approved',
    isTest: n === 3,
    convertedAt: new Date(testNowMs).toISOString(),
  }))
  await importContent(api.stores, 'acme', 'conversions', conversions)
  const filters = ['', 'is_bot=true', 'campaign_id=spring', 'country=!DE', 'converted=true', 'converted=false']
  const compare = async () => {
    for (const query of [...filters, 'order=asc', 'updated_since=1970-01-01', 'fields=city,cost,sub10']) {
      const listed = await readPages(api, `/clicks?limit=40&${query}`, key, ClickPage)
      const { body } = await api.get(`/clicks?format=ndjson&${query}`, key)
      const exported = body
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
      for (const row of exported) delete row.cursor
      expect([query, listed]).toEqual([query, exported])
      expect(listed.length).toBeGreaterThan(1)
    }
  }
  await compare()
  for (const table of ['clicks', 'converted_click_rows']) {
    const change =
      "city = concat(city, '\\u{1F30D}'), cost = 0.5, is_bot = NOT is_bot, stored_at = addMilliseconds(stored_at, -1)"
    await changeTables(api.stores, `ALTER TABLE ${table} UPDATE ${change} WHERE 1 SETTINGS mutations_sync = 2`)
  }
  await compare()
})
