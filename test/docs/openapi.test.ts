import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../kit/app.ts'

const api = useTestApp()
let document: string
/** Without example responses, which examples.test.ts checks. */
let contract: object

beforeAll(async () => {
  document = (await api.get('/docs/json')).body
  contract = JSON.parse(document, (name, value) => (name === 'example' || name === 'x-codeSamples' ? undefined : value))
})

describe('the OpenAPI document', () => {
  it("passes Redocly's recommended rules without a warning", async () => {
    const problems = await lintFromString({
      source: document,
      config: await createConfig({ extends: ['recommended'] }),
    })
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
  })

  it('equals the accepted contract in test/golden', async () => {
    await expect(`${JSON.stringify(contract, null, 2)}\n`).toMatchFileSnapshot('../golden/openapi.json')
  })
})
