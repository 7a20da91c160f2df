import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../kit/app.ts'

const api = useTestApp()
let document: string
/** Without example responses, which examples.test.ts checks. */
let contract: object

beforeAll(async () => {
  document = (await api.get('/docs/json')).body
  contract = JSON.parse(document, (name, value) => (name === 'example' ? undefined : value))
})

describe('the OpenAPI document', () => {
  it("passes Redocly's recommended rules without a warning", async () => {
    const problems = await lintFromString({
      source: document,
      config: await createConfig({ extends: ['recommended'] }),
    })
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
  })

  it('has no length beside a union, at which generators of clients break', () => {
    const broken: string[] = []
    JSON.parse(document, function (this: Record<string, unknown>, name, value) {
      if (value?.anyOf && ('minLength' in value || 'maxLength' in value)) broken.push(`${name}: a length beside anyOf`)
      return value
    })
    expect(broken).toEqual([])
  })

  it('names the plans that a new server has, with their limits', async () => {
    const plans = await api.stores.postgres`
      SELECT name, requests_per_minute, events_per_minute, identifier_events_per_minute, click_allowance
      FROM plans WHERE has_api ORDER BY requests_per_minute`
    const rows = plans.map(({ name, ...limits }) => {
      const numbers = Object.values(limits).map((limit) => Number(limit).toLocaleString('en'))
      return `| \`${name}\` | ${numbers.join(' | ')} |`
    })
    expect(document.replace(/ +/g, ' ').match(/\| `(pro|scale)` \| [\d,| ]+ \|/g)).toEqual(rows)
  })

  it('equals the accepted contract in test/golden', async () => {
    await expect(`${JSON.stringify(contract, null, 2)}\n`).toMatchFileSnapshot('../golden/openapi.json')
  })
})
