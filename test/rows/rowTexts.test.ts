import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { clickTextFields, clickTextVersion } from '../../src/query/clickText.ts'
import { conversionTextFields } from '../../src/rows/conversions.ts'
import { columnName } from '../../src/stores/clickhouse/columnKinds.ts'

it('the fields of a conversion are read at the positions that its column `row_text` has', () => {
  const schema = readFileSync(join(packageRoot, 'clickhouse/schema.sql'), 'utf8')
  const [, values = ''] = /`row_text` String MATERIALIZED toJSONString\(\[(.*)\]\)/.exec(schema) ?? []
  // The column of a value is its first name that is neither a function nor text.
  const columns = values
    .replaceAll(/'[^']*'/g, '')
    .split(/,(?![^(]*\))/)
    .map((value) => /\b([a-z_]\w*)\b(?!\()/.exec(value)?.[1])
  const ofClick = { externalClickId: 'click_external_id', referrer: 'click_referrer' }
  const columnOf = (field: string) => ({ ...ofClick })[field as keyof typeof ofClick] ?? columnName(field)
  expect(conversionTextFields.map(columnOf)).toEqual(columns)
})

it('the fields of a version of the text of a click are always the same', () => {
  // Stored rows have these fields: another field or order is a new version with a line of its own.
  const versions: Record<string, string> = {
    '1': 'campaignId offerId landingPageId trafficSourceId visitorId country region city device os osVersion browser browserVersion language referrer userAgent ip sub1 sub2 sub3 sub4 sub5 sub6 sub7 sub8 sub9 sub10 externalClickId utmSource utmMedium utmCampaign utmTerm utmContent cost currency costBase isBot isTest',
  }
  expect(clickTextFields.map(([name]) => name).join(' ')).toBe(versions[clickTextVersion])
})
