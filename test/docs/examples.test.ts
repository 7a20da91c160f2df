import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { newestClickId } from '../../src/demo/clicks.ts'
import { fillDemo } from '../../src/demo/fill.ts'
import { planDemo } from '../../src/demo/visits.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'

/**
 * What the documentation shows as an answer is one: the demo's, at the moment of tests. A call that is new in the
 * document needs a line here; `npm test -- -u` then writes what it answers.
 */
const questions: Record<string, string> = {
  getClicks: '/clicks?converted=true&limit=1',
  getConversions: '/conversions?status=refunded&limit=1',
  getConversionsSearch: '/conversions/search?q=luma&limit=1',
  getCampaigns: '/campaigns?limit=1',
  getCampaignsById: '/campaigns/cmp-luma-meta-broad',
  getCampaignsSearch: '/campaigns/search?q=luma&limit=1',
  getOffers: '/offers?status=active&limit=1',
  getOffersById: '/offers/off-luma-blanket',
  getLandingPages: '/landing-pages?limit=1',
  getLandingPagesById: '/landing-pages/lp-luma-quiz',
  getTrafficSources: '/traffic-sources?limit=1',
  getTrafficSourcesById: '/traffic-sources/src-meta',
  getStatsOverview: '/stats/overview?days=7',
  getStatsDaily: '/stats/daily?days=1&tz=America/New_York',
  getReports: '/reports?group_by=day&days=1',
  getUsage: '/usage',
}

const plan = planDemo({ seed: 1, clicks: 20_000, days: 90, nowMs: testNowMs, currency: 'USD' })
const event = {
  click_id: newestClickId(plan),
  event_name: 'trial_converted',
  value: 49.9,
  currency: 'USD',
  properties: { plan: 'yearly', seats: 3 },
  event_id: 'order-1042-paid',
  timestamp: new Date(testNowMs - 60_000).toISOString(),
}

let api: TestApp
let key: string

beforeAll(async () => {
  api = await openTestApp()
  key = await api.account('harbour')
  const account = { id: 'harbour', name: 'harbour', plan: 'scale', currency: 'USD', createdAt: new Date(testNowMs) }
  await fillDemo(api.stores, account, plan, {
    onMessage: () => {},
    signal: new AbortController().signal,
    onProgress: () => {},
  })
}, 120_000)
afterAll(() => api?.close())

describe('the examples of the documentation', () => {
  it('are what a server answers', async () => {
    const { paths } = (await api.get('/docs/json')).json<{
      paths: Record<string, Record<string, { operationId: string }>>
    }>()
    const examples: Record<string, { request?: unknown; answer: unknown }> = {}
    for (const { operationId } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
      if (operationId === 'postEvents') {
        const answer = await api.app.inject({
          method: 'POST',
          url: '/api/v1/events',
          headers: { authorization: `ApiKey ${key}` },
          payload: event,
        })
        expect([answer.statusCode, answer.body]).toEqual([200, '{"accepted":true}'])
        examples[operationId] = { request: event, answer: answer.json() }
        continue
      }
      const question = questions[operationId]
      if (!question) throw new Error(`${operationId} has no example: add a call of it to questions.`)
      const answer = await api.get(question, key)
      expect([question, answer.statusCode]).toEqual([question, 200])
      examples[operationId] = { answer: JSON.parse(answer.body, storedAtNow) }
    }
    await expect(moduleOf(examples)).toMatchFileSnapshot('../../src/http/docs/examples.ts')
  })
})

/** Rows are dated by the clock of the store, which is no part of an example. */
function storedAtNow(name: string, value: unknown): unknown {
  return name === 'storedAt' ? new Date(testNowMs).toISOString() : value
}

function moduleOf(examples: object): string {
  return `// Written by test/docs/examples.test.ts from answers of a server; \`npm test -- -u\` writes it anew.

/** By operation: what is sent, where there is a body, and what is answered. */
export const examples: Readonly<Record<string, { request?: unknown; answer: unknown }>> = ${JSON.stringify(examples, null, 2)}
`
}
