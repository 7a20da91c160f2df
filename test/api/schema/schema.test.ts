// @module-tag postgres

import { expect, it } from 'vitest'
import { ApiSchema } from '../../../schema/apiSchema.ts'
import { dimensions } from '../../../schema/dimensions.ts'
import { reportMetricNames } from '../../../schema/metrics.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { useTestApp } from '../../kit/app.ts'
import { operations } from '../../kit/operations.ts'

const api = useTestApp()

it('GET /schema lists every dimension and metric of the contract, with any scope', async () => {
  const key = await api.account('acme', { scopes: ['write:events'] })
  const schema = await api.read('/schema', key, ApiSchema)
  expect(schema.dimensions.map(({ name }) => name)).toEqual(dimensions)
  expect(schema.metrics.map(({ name }) => name)).toEqual(reportMetricNames)
  const roi = schema.metrics.find(({ name }) => name === 'roi')
  expect(roi).toMatchObject({ formula: '100 * profit / cost', unit: 'percent', since: '1.0.0' })
  expect(schema.metrics.find(({ name }) => name === 'events')?.since).toBe('2.0.0')
  const find = (one: string) => schema.dimensions.find(({ name }) => name === one)
  expect(find('coupon_code')).toEqual({ name: 'coupon_code', resources: ['conversions'], since: '1.0.0' })
  expect(find('affiliate_network')).toMatchObject({
    resources: ['clicks', 'conversions', 'costs', 'events'],
    since: '2.0.0',
  })
})

it('GET /schema lists for each filter the endpoints and operators that take it, and no others', async () => {
  // The time stands still, so all requests are in one minute.
  await setPlanLimits(api.stores.postgres, 'scale', { requestsPerMinute: 10_000_000 })
  const key = await api.account('filters')
  const { filters } = await api.read('/schema', key, ApiSchema)
  const operators = ['is', 'is_not', 'contains', 'contains_not']
  const paths = [...new Set(filters.flatMap(({ endpoints }) => endpoints.flatMap((one) => one.paths)))]
  const others = operations.filter(
    ({ path, query }) => query.some((one) => one.name === 'filters') && !paths.includes(path),
  )
  expect([paths.includes('/events'), others]).toEqual([true, []])
  const values: Record<string, string> = {
    country: 'US',
    device: 'mobile',
    status: 'approved',
    source: 'cpa',
    event_origin: 'server',
  }
  for (const path of paths) {
    const needed = { '/reports': 'group_by=day', '/funnels': 'steps=click,conversion' }[path] ?? ''
    const hasTree = operations.some((one) => one.path === path && one.query.some(({ name }) => name === 'filters'))
    const status = async (query: string) => (await api.get(`${path}?${needed}&${query}`, key)).statusCode
    const conditionOf = (name: string, operator: string) => {
      const { [name]: value = 'x' } = values
      const isTree = hasTree || operator.startsWith('contains')
      return isTree ? [operator, name, [value]] : `${name}=${operator === 'is' ? '' : '!'}${value}`
    }
    const send = (conditions: (string | unknown[])[]) => {
      const trees = conditions.filter((one) => typeof one !== 'string')
      const tree = trees.length > 0 ? [`filters=${encodeURIComponent(JSON.stringify(trees))}`] : []
      return status([...conditions.filter((one) => typeof one === 'string'), ...tree].join('&'))
    }
    for (const operator of operators) {
      const isListed = ({ endpoints }: ApiSchema['filters'][number]) =>
        endpoints.some((one) => one.paths.includes(path) && one.operators.includes(operator))
      const listed = filters.filter(isListed).map(({ name }) => conditionOf(name, operator))
      if (listed.length > 0) expect([path, operator, await send(listed)]).toEqual([path, operator, 200])
      for (const { name } of filters.filter((one) => !isListed(one)))
        expect([path, operator, name, await send([conditionOf(name, operator)])]).toEqual([path, operator, name, 400])
    }
  }
})
