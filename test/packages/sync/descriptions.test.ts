// @module-tag all

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Id, Instant } from '../../../schema/scalars.ts'
import { packageRoot } from '../../../src/package.ts'
import { changing, columnNameOf, metadata } from '../../../src/packages/sync/source/resources.ts'

// `npm run test:all -- -u` writes the descriptions of copies, and the sources of docs/dbt, from the contract.

interface Schema {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
}
const document = JSON.parse(readFileSync(join(packageRoot, 'test/golden/openapi.json'), 'utf8'))

const resolved = ({ $ref, ...schema }: Schema): Schema =>
  $ref === undefined ? schema : document.components.schemas[$ref.split('/').at(-1) ?? '']

/** Columns whose descriptions in the contract say only their form, or that rows of the API do not have. */
const other: Readonly<Record<string, string>> = {
  languageTag: 'First tag of the `Accept-Language` header, lower case.',
  utmSource: 'utm_source of the click.',
  referrerDomain: 'Host of the referrer, lower case, without `www.`.',
  utmMedium: 'utm_medium of the click.',
  utmCampaign: 'utm_campaign of the click.',
  utmTerm: 'utm_term of the click.',
  utmContent: 'utm_content of the click.',
  region: 'Of the click, as sent by the tracker.',
  city: 'Of the click, as sent by the tracker.',
  osVersion: 'Version of the operating system of the click.',
  browserVersion: 'Version of the browser of the click.',
}

const tables = [...changing, ...metadata].map(({ name, path, key, fields, ...rest }) => {
  const { tags, responses } = document.paths[path].get
  const page = resolved(responses[200].content['application/json'].schema)
  const properties = resolved(page.properties?.data?.items ?? {}).properties ?? {}
  const textOf = (field: string) => {
    const { description } = properties[field] ?? {}
    if (/^sub\d+$/.test(field)) return `Your tracking parameter ${field}.`
    if (description === Id.description) return field === 'id' ? 'Id of the row.' : `Id: ${field} of the API.`
    if (description === Instant.description) return `Time: ${field} of the API.`
    return description ?? other[field] ?? `${field} of the API.`
  }
  return {
    name,
    description: document.tags.find((tag: { name: string }) => tag.name === tags[0]).description as string,
    columns: Object.entries(fields).map(([field, type]) => ({
      name: columnNameOf(field),
      description: textOf(field),
      tests: [
        ...(key.length === 1 && key[0] === field ? ['unique'] : []),
        ...(type.endsWith('NOT NULL') ? ['not_null'] : []),
      ],
    })),
    isChanging: 'time' in rest,
  }
})

it('describes every table and column of a copy in the words of the contract', async () => {
  const entries = tables.map(({ name, description, columns }) => {
    const texts = Object.fromEntries(columns.map((column) => [column.name, column.description]))
    return [name, { description, columns: texts }]
  })
  const json = JSON.stringify(Object.fromEntries(entries), null, 2)
  // A `\` is an escape under some settings of PostgreSQL.
  expect(json).not.toContain('\\\\')
  await expect(`${json}\n`).toMatchFileSnapshot('../../../src/packages/sync/database/descriptions.json')
})

it('lists every table and column as a source of dbt, with tests and freshness', async () => {
  const lines = tables.flatMap(({ name, description, columns, isChanging }) => [
    `      - name: ${name}`,
    `        description: ${JSON.stringify(description)}`,
    ...(isChanging
      ? ['        config:', '          loaded_at_field: stored_at', '          freshness:', freshness]
      : []),
    '        columns:',
    ...columns.flatMap((column) => [
      `          - name: ${column.name}`,
      `            description: ${JSON.stringify(column.description)}`,
      ...(column.tests.length > 0 ? [`            data_tests: [${column.tests.join(', ')}]`] : []),
    ]),
  ])
  const head = `version: 2

# Written from the contract by test/packages/sync/descriptions.test.ts.
sources:
  - name: tributary
    description: The copy of an account, filled by tributary-sync.
    schema: "{{ var('tributary_schema') }}"
    tables:
`
  await expect(`${head}${lines.join('\n')}\n`).toMatchFileSnapshot('../../../docs/dbt/models/sources.yml')
})

const freshness = '            warn_after: { count: 1, period: day }'
