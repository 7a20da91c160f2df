// @module-tag all

import { execFile } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import postman from 'openapi-to-postmanv2'
import { validate as isUuid } from 'uuid'
import { beforeAll, expect, it, vi } from 'vitest'
import { type OpenApiDocument, operationsOf, type PlacedOperation } from '../../src/http/docs/openapiDocument.ts'
import { testNowMs, useTestApp } from '../kit/app.ts'
import { makeDemoAccount } from '../kit/demo.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { blocksOf, formDifferences } from './shellBlocks.ts'

/** Rows of `data` in an example: of a journey as many as show different kinds. */
const shownRows = (operationId: string) => (operationId === 'getJourneys' ? 3 : 1)

const event = {
  visitor_id: 'vis-1042',
  campaign_id: 'cmp-luma-meta-broad',
  event_name: 'trial_converted',
  value: 49.9,
  currency: 'USD',
  properties: { plan: 'yearly', seats: 3 },
  event_id: 'order-1042-paid',
}

/** A new operation that is not a GET needs its example here. */
const posts: Record<string, { request: object; response: object }> = {
  postEvents: { request: event, response: { accepted: true } },
  postEventsBatch: {
    request: {
      events: [
        { ...event, event_name: 'signup', event_id: 'user-7-signup', value: null, currency: null },
        event,
        { click_id: 'clk-unknown', event_name: 'signup' },
      ],
    },
    response: {
      stored: 1,
      deduplicated: 1,
      overCeiling: 0,
      rejected: 1,
      results: [
        { index: 0, accepted: true },
        { index: 1, accepted: true, deduplicated: true },
        {
          index: 2,
          error: 'click_not_found',
          message: 'No such click, or the account does not have its campaign.',
          param: 'click_id',
        },
      ],
    },
  },
}

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await makeDemoAccount(api, 'harbour', { clicks: 20_000, days: 90 })
  // Checksums leave out rows that may still be joined by others of the same moment.
  const filledAt = new Date().toISOString()
  const checksums = async () => (await api.get('/checksums/events?from=2026-11-20', key)).json<{ asOf: string }>()
  await vi.waitUntil(async () => (await checksums()).asOf > filledAt, { timeout: 20_000 })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
})

// `npx vitest run test/docs/examples.test.ts -u` writes them.
it('the example responses of the documentation are the responses of the demo to the sample requests: to the examples of the parameters that a request needs', async () => {
  const examples: Record<string, { request?: unknown; response: unknown }> = {}
  for (const placed of operationsOf(await document())) {
    const { operationId } = placed.operation
    const post = posts[operationId]
    const response = await api.app.inject({
      method: placed.method as 'GET' | 'POST',
      url: `/api/v1${sampleUrl(placed)}`,
      headers: { authorization: `ApiKey ${key}` },
      ...(post && { payload: post.request }),
    })
    expect([operationId, response.statusCode]).toEqual([operationId, 200])
    const body = JSON.parse(response.body, withFixedValues)
    if (post) expect(body).toEqual(post.response)
    const shown = Object.entries<unknown>(body).map(([name, value]) => {
      const isList = name === 'data' || operationId === 'getSchema'
      return [name, isList && Array.isArray(value) ? value.slice(0, shownRows(operationId)) : value]
    })
    examples[operationId] = { ...(post && { request: post.request }), response: Object.fromEntries(shown) }
  }
  await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot('../../src/http/docs/examples.json')
})

/** The parameters that a request needs have their first example. */
function sampleUrl({ path, operation: { parameters = [] } }: PlacedOperation): string {
  const needed = parameters
    .filter(({ required, schema }) => required || schema['x-required-without'] !== undefined)
    .map(({ example, examples = {}, ...rest }) => ({
      ...rest,
      value: `${example ?? Object.values(examples)[0]?.value}`,
    }))
  const query = needed.flatMap((one) => (one.in === 'query' ? [[one.name, one.value] as [string, string]] : []))
  const inPath = (text: string, { name, value }: { name: string; value: string }) => text.replace(`{${name}}`, value)
  return `${needed.reduce(inPath, path)}?${new URLSearchParams(query)}`
}

const [prepare, ...recipes] = blocksOf('docs/recipes.md')

it.skipIf(!isInstalled('curl')).each(recipes)(
  'the request of $source runs unchanged and has a response of the form that is shown',
  async (recipe) => {
    const { port } = api.app.server.address() as AddressInfo
    const script = [...(prepare?.commands ?? []), ...recipe.commands].join('\n')
    const env = { PATH: process.env.PATH, TRIBUTARY_URL: `http://127.0.0.1:${port}`, TRIBUTARY_KEY: key }
    const { stdout } = await promisify(execFile)('sh', ['-ec', script], { env, maxBuffer: 64 * 1_048_576 })
    expect(formDifferences(recipe.response, JSON.parse(stdout))).toEqual([])
  },
)

it('tools that read the OpenAPI document import it into Postman, with the options that the guide names, as a collection whose requests work with an apiKey', async () => {
  const { tags } = await document()
  const { description } = tags.find(({ name }) => name === 'Tools') ?? {}
  for (const { name, id } of importOptions) {
    expect(postman.getOptions('document')).toContainEqual(expect.objectContaining({ name, id, external: true }))
    expect(description?.replaceAll('\n', ' ')).toContain(`**${name}**`)
  }
  const collection = await importIntoPostman(JSON.stringify(await document()))
  const variables: Record<string, string> = { apiKey: key }
  for (const { key: name, value } of collection.variable) variables[name] = value
  const resolve = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => variables[name] ?? '')
  const requests = requestsOf(collection.item)
  // What the guide says to do: OpenAPI cannot say that one of two parameters is required.
  const journey = requests.find(({ name }) => name === 'Get a journey')
  expect(description).toContain(`**${journey?.name}** requires one of two parameters`)
  const [visitor] = journey?.request.url.query ?? []
  expect(visitor).toMatchObject({ key: 'visitor_id', disabled: true })
  if (visitor) visitor.disabled = false
  expect(requests.length).toBe(operationsOf(await document()).length)
  for (const { name, request } of requests) {
    const { url, method, header, body, auth } = request
    const authentication = Object.fromEntries(auth.apikey.map((field) => [field.key, resolve(field.value)]))
    const path = url.path.map((part) => url.variable.find((found) => `:${found.key}` === part)?.value ?? part)
    const query = url.query.filter(({ disabled }) => !disabled).map((part): [string, string] => [part.key, part.value])
    const response = await fetch(`${resolve(url.host.join('.'))}/${path.join('/')}?${new URLSearchParams(query)}`, {
      method,
      headers: [
        ...header.map((line): [string, string] => [line.key, line.value]),
        [authentication.key ?? '', authentication.value ?? ''],
      ],
      ...(body?.raw && { body: body.raw }),
    })
    expect([name, response.status, response.ok ? '' : await response.text()]).toEqual([name, 200, ''])
  }
})

async function document(): Promise<OpenApiDocument> {
  return (await api.get('/docs/json')).json()
}

interface Collection {
  variable: { key: string; value: string }[]
  item: Item[]
}
interface Item {
  name: string
  item?: Item[]
  request: {
    method: string
    url: {
      host: string[]
      path: string[]
      query: { key: string; value: string; disabled?: boolean }[]
      variable: { key: string; value: string }[]
    }
    header: { key: string; value: string }[]
    body?: { raw?: string }
    auth: { apikey: { key: string; value: string }[] }
  }
}

function requestsOf(items: readonly Item[]): Item[] {
  return items.flatMap((item) => (item.item ? requestsOf(item.item) : [item]))
}

/** The options of the import dialog that the guide names, with their values there. */
const importOptions = [
  { name: 'Parameter generation', id: 'parametersResolution', value: 'Example' },
  { name: 'Enable optional parameters', id: 'enableOptionalParameters', value: false },
] as const

function importIntoPostman(data: string): Promise<Collection> {
  const options = Object.fromEntries(importOptions.map(({ id, value }) => [id, value]))
  return new Promise((resolve, reject) => {
    postman.convertV2({ type: 'string', data }, options, (error, converted) => {
      if (!converted?.result) reject(error ?? new Error(converted?.reason))
      else resolve(converted.output?.[0]?.data as Collection)
    })
  })
}

/** Replaces values that differ between runs: times of the store and hashes of them, and the id of the key. */
function withFixedValues(name: string, value: unknown): unknown {
  const now = new Date(testNowMs).toISOString()
  if (name === 'hash') return '0a1b2c3d4e5f607'
  if (name === 'storedAt' || (name === 'asOf' && value !== null)) return now
  if (name === 'lastStoredAt') return { clicks: now, conversions: now, costs: now }
  return name === 'id' && isUuid(value) ? '0198c0de-7f00-7aaa-8bbb-0123456789ab' : value
}
