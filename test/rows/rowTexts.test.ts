import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { clickTextFields } from '../../src/rows/clicks.ts'
import { conversionTextFields } from '../../src/rows/conversions.ts'
import { columnName } from '../../src/stores/clickhouse/columnKinds.ts'

const schema = readFileSync(join(packageRoot, 'clickhouse/schema.sql'), 'utf8')
const clickTexts = [...schema.matchAll(/`page_text` String MATERIALIZED concatWithSeparator\('\\0', (.*?)\) COMMENT/g)]
const conversionTexts = [...schema.matchAll(/`row_text` String MATERIALIZED toJSONString\(\[(.*)\]\)/g)]

it.each([
  ['conversion', conversionTextFields, conversionTexts, 1],
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
