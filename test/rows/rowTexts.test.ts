import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { metricFields, metricNames } from '../../schema/metrics.ts'
import { packageRoot } from '../../src/package.ts'
import { metricDefinitions } from '../../src/query/metricDefinitions.ts'
import { clickTextFields } from '../../src/rows/clicks.ts'
import { conversionTextFields } from '../../src/rows/conversions.ts'
import { costTextFields } from '../../src/rows/costs.ts'
import { columnName } from '../../src/stores/clickhouse/columnKinds.ts'
import { personalTables } from '../../src/writer/erasure/personalFields.ts'
import { clickRowFields } from '../../src/writer/tables/click.ts'
import { conversionRowFields } from '../../src/writer/tables/conversion.ts'
import { pixelEventRowFields } from '../../src/writer/tables/pixelEvent.ts'

const schema = readFileSync(join(packageRoot, 'clickhouse/schema.sql'), 'utf8')
const clickTexts = [...schema.matchAll(/`page_text` String MATERIALIZED concatWithSeparator\('\\0', (.*?)\) COMMENT/g)]
const [conversionText = [], costText = []] = [
  ...schema.matchAll(/`row_text` String MATERIALIZED toJSONString\(\[(.*)\]\)/g),
]

it.each([
  ['conversion', conversionTextFields, [conversionText], 1],
  ['cost', costTextFields, [costText], 1],
  ['click', clickTextFields, clickTexts, 2],
] as const)(
  'the fields of a %s are read at the positions that its text has in each table',
  (_, fields, found, tables) => {
    const ofClick = { externalClickId: 'click_external_id', referrer: 'click_referrer' }
    const columnOf = (field: string) =>
      (tables === 1 ? ofClick : {})[field as keyof typeof ofClick] ?? columnName(field)
    // The column of a value is its first name that is neither a function nor text.
    const columns = found.map(([, values = '']) =>
      values
        .replaceAll(/'[^']*'/g, '')
        .split(/,(?![^(]*\))/)
        .map((value) => /\b([a-z_]\w*)\b(?!\()/.exec(value)?.[1]),
    )
    expect(columns).toEqual(Array(tables).fill(fields.map(columnOf)))
  },
)

/** Texts that identify no person, or that reports group by. */
const keptTexts = {
  clicks:
    'campaignId offerId landingPageId trafficSourceId country device os osVersion browser browserVersion language currency',
  conversions: `externalStatus eventName clickId transactionId campaignId offerId landingPageId trafficSourceId country device os browser
    currency couponCode clickCampaignId clickOfferId clickOsVersion clickBrowserVersion clickLanguage clickLandingPageId
    clickTrafficSourceId clickCountry clickDevice clickOs clickBrowser importFile`,
  pixel_events: 'clickId campaignId userId currency',
}

it.each([
  ['clicks', clickRowFields],
  ['conversions', conversionRowFields],
  ['pixel_events', pixelEventRowFields],
] as const)('an erasure blanks every text of %s that is not known to be kept', (name, fields) => {
  const blanked = personalTables.find((table) => table.name === name)?.personal.flatMap(({ parts }) => parts) ?? []
  const texts = Object.entries(fields).flatMap(([field, kind]) => (kind === 'text' ? [field] : []))
  expect(texts.filter((field) => !blanked.includes(columnName(field)))).toEqual(keptTexts[name].split(/\s+/))
})

it('a metric is null in the schema if and only if it is a ratio', () => {
  const nullable = metricNames.filter((name) => JSON.stringify(metricFields[name]).includes('"null"'))
  expect(nullable).toEqual(metricNames.filter((name) => metricDefinitions[name].kind === 'ratio'))
})
