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

const namesOf = (...entities: string[]) =>
  Object.fromEntries(entities.map((entity) => [`${entity.replace(' ', '_')}_name`, `Present name of the ${entity}.`]))
const names = namesOf('campaign', 'offer', 'landing page', 'traffic source')
const converted = {
  converted: 'Whether it has a conversion that is not a test.',
  conversion_count: 'Conversions that are not tests.',
}

/** Columns of each view beside the columns of its table. */
const views: Record<string, Record<string, string>> = {
  clicks: { ...names, ...converted },
  conversions: names,
  costs: names,
  events: namesOf('campaign'),
}

/** Tables that the API does not have. */
const ownTables = {
  countries: {
    description: 'Names of countries.',
    columns: { id: 'Country code, ISO 3166-1 alpha-2.', name: 'English name.' },
  },
  sync_state: {
    description: 'How far each resource is copied.',
    columns: {
      resource: 'Name of the table.',
      first_day: 'First UTC day of the copy; NULL: all.',
      since: 'Start of the present pass: rows that were stored from this time on; NULL: all rows.',
      next_since: 'Start of the next pass; NULL before the first response of the present one.',
      cursor: 'Where an unfinished pass continues; NULL: there is none.',
      new_columns: 'Columns that the pass fills in all rows, separated by commas; NULL: none.',
    },
  },
  sync_times: {
    description: 'The time before which all rows of each resource are copied.',
    columns: { resource: 'Name of the table.', as_of: 'This time, as text.' },
  },
  sync_source: {
    description: 'The account of the copy.',
    columns: { is_only: 'True: there is one row.', account_id: 'Id of the account.' },
  },
}

it('describes every table, view and column of a copy, in the words of the contract', async () => {
  const entries = tables.flatMap(({ name, description, columns }) => {
    const texts = Object.fromEntries(columns.map((column) => [column.name, column.description]))
    const view = views[name]
    const [viewName, ofView] = [`${name.slice(0, -1)}_details`, `${description} With present names.`]
    return [
      [name, { description, columns: texts }],
      ...(view ? [[viewName, { description: ofView, columns: { ...texts, ...view } }]] : []),
    ]
  })
  const json = JSON.stringify({ ...Object.fromEntries(entries), ...ownTables }, null, 2)
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
