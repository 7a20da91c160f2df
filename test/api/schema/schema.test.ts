// @module-tag postgres

import { expect, it } from 'vitest'
import { ApiSchema } from '../../../schema/apiSchema.ts'
import { dimensions } from '../../../schema/dimensions.ts'
import { reportMetricNames } from '../../../schema/metrics.ts'
import { useTestApp } from '../../kit/app.ts'
import { operations } from '../../kit/operations.ts'

const api = useTestApp()

it('GET /schema lists every dimension, metric and filter of the contract, with any scope', async () => {
  const key = await api.account('acme', { scopes: ['write:events'] })
  const schema = await api.read('/schema', key, ApiSchema)
  expect(schema.dimensions.map(({ name }) => name)).toEqual(dimensions)
  expect(schema.metrics.map(({ name }) => name)).toEqual(reportMetricNames)
  const roi = schema.metrics.find(({ name }) => name === 'roi')
  expect(roi).toMatchObject({ formula: '100 * profit / cost', unit: 'percent', since: '1.0.0' })
  expect(schema.dimensions.find(({ name }) => name === 'coupon_code')?.resources).toEqual(['conversions'])
  for (const [resource, path] of [
    ['clicks', '/clicks'],
    ['conversions', '/conversions'],
    ['costs', '/costs'],
    ['reports', '/reports'],
    ['funnels', '/funnels'],
  ] as const) {
    const query = operations.find((operation) => operation.path === path)?.query ?? []
    const filters = query.filter(({ description }) => description.includes('a leading `!` excludes'))
    const listed = schema.filters.filter(({ resources }) => resources.includes(resource)).map(({ name }) => name)
    expect([resource, listed.toSorted()]).toEqual([resource, filters.map(({ name }) => name).toSorted()])
  }
})
