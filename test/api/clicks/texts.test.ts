import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { clickTextSql, clickTextVersion } from '../../../src/query/clickText.ts'
import { render } from '../../../src/stores/clickhouse/sql.ts'
import { importContent, rowsOf } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { changeTables } from '../../kit/rows.ts'

const api = useTestApp()
// ClickHouse compares the age of a row with its own clock.
const nowMs = Date.now()
beforeAll(() => api.setNow(nowMs))

const minuteMs = 60_000
const text = fc.option(
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\t', '\u007f', '\u2028', 'é', '😀', '/'), maxLength: 12 }),
)
const money = fc.option(fc.constantFrom('0', '0.37', '123456789012.345678', '0.000001', '1000000'))
const id = fc.option(fc.constantFrom('spring', 'summer.1'))
const click = fc.record({
  minutesAgo: fc.nat({ max: 3 }),
  ...{ campaignId: id, offerId: id, visitorId: id, country: fc.option(fc.constantFrom('DE', 'FR')) },
  ...{ city: text, referrer: text, userAgent: text, utmTerm: text, externalClickId: text },
  subIds: fc.record({ sub1: text, sub10: text }),
  ...{ cost: money, isBot: fc.boolean(), isTest: fc.boolean() },
})

describe('the text of a click', () => {
  it('gives every page byte for byte as the columns do, and is what ClickHouse computes from them', async () => {
    const key = await api.account('acme')
    const rows = fc.sample(click, { numRuns: 60, seed: 7 }).map(({ minutesAgo, cost, ...row }, n) => {
      const clickedAt = new Date(nowMs - minutesAgo * minuteMs).toISOString()
      return `${JSON.stringify({ id: `c${n}`, clickedAt, ...row }).slice(0, -1)}${cost === null ? '' : `,"cost":${cost}`}}\n`
    })
    const imported = await importContent(api.stores, 'acme', 'clicks', rows.join(''))
    expect(imported.rejects).toEqual([])
    const conversions = [0, 1, 1, 2].map((click, n) => ({
      ...{ id: `v${n}`, clickId: `c${click}`, status: 'approved', isTest: n === 3 },
      convertedAt: new Date(nowMs).toISOString(),
    }))
    await importContent(api.stores, 'acme', 'conversions', conversions)
    const computed = render(clickTextSql).text.replace('{p1:String}', `'${clickTextVersion}'`)
    const texts = await rowsOf(
      api.stores,
      `SELECT count() AS n, countIf(row_text = ${computed}) AS same FROM clicks WHERE account_id = 'acme'`,
    )
    expect(texts).toEqual([{ n: 60, same: 60 }])
    const read = async () => {
      const bodies: string[] = []
      const filters = ['', 'is_bot=true', 'campaign_id=spring', 'country=!DE', 'converted=true', 'converted=false']
      for (const query of [...filters, 'order=asc', 'updated_since=1970-01-01', 'fields=city,cost']) {
        const path = `/clicks?limit=40&${query}`
        for (let cursor = ''; ; ) {
          const { body } = await api.get(`${path}${cursor && `&cursor=${cursor}`}`, key)
          bodies.push(body.replace(/"asOf":"[^"]*"/, ''))
          cursor = JSON.parse(body).nextCursor
          if (!cursor) break
        }
      }
      return bodies
    }
    const fromTexts = await read()
    for (const change of ["row_text = concat('9', substring(row_text, 2))", "row_text = ''"]) {
      const statement = `ALTER TABLE clicks UPDATE ${change} WHERE account_id = 'acme' SETTINGS mutations_sync = 2`
      await changeTables(api.stores, statement)
      expect(await read()).toEqual(fromTexts)
    }
  })

  it('is emptied when its month is long over, and not before; an older click is stored without a text', async () => {
    await api.account('aged')
    const clicks = ['2020-02-29T23:59:59Z', new Date(nowMs).toISOString()].map((clickedAt, n) => ({
      id: `c${n}`,
      clickedAt,
    }))
    await importContent(api.stores, 'aged', 'clicks', clicks)
    const inTime = `('aged', 'c2', '2020-02-29 00:00:00', '2020-03-01 00:00:00', '1')`
    const columns = 'account_id, id, clicked_at, stored_at, row_text'
    await api.stores.clickhouse.client.command({ query: `INSERT INTO clicks (${columns}) VALUES ${inTime}` })
    const query = `SELECT id, empty(row_text) AS isEmpty FROM clicks WHERE account_id = 'aged' ORDER BY id`
    const texts = async () => (await rowsOf<{ isEmpty: number }>(api.stores, query)).map(({ isEmpty }) => isEmpty)
    expect((await texts()).slice(0, 2)).toEqual([1, 0])
    await changeTables(api.stores, 'OPTIMIZE TABLE clicks FINAL')
    expect(await texts()).toEqual([1, 0, 1])
  })
})
