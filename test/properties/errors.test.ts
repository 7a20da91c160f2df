import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conversionAttributeNames } from '../../schema/dimensions.ts'
import { ProblemBody } from '../../schema/errorCodes.ts'
import { columnFilterNames, filterNames } from '../../schema/filters.ts'
import { namedTables } from '../../schema/metadata.ts'
import { scopes } from '../../schema/scopes.ts'
import { makeKeyText } from '../../src/accounts/keyFormat.ts'
import { revokeKey } from '../../src/accounts/manageKeys.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { openResponseCache } from '../../src/http/responseCache.ts'
import type { ReadRequest } from '../../src/stores/clickhouse/sendSelect.ts'
import type { ClickHouse } from '../../src/stores/cluster/connection.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { makeKey } from '../kit/accounts.ts'
import { assertSchema, getFrom, testNowMs, useTestApp } from '../kit/app.ts'
import { goodValues, isNeeded, type Operation, operations, type Parameter } from '../kit/operations.ts'
import { randomCasesFactor } from '../kit/randomCases.ts'
import { storeClicks, storeEvents, storeMetadata } from '../kit/rows.ts'

// Tests each row of the error table at every endpoint that it applies to. The rows that apply follow from the contract, so
// a new endpoint is covered automatically; a new parameter needs its invalid values in `badValues`.

const api = useTestApp()
let key: string
let otherKey: string
let freeKey: string
let revokedKey: string
let expiredKey: string
/** Keys of `acme` by the scope that they lack. */
const narrowKeys = new Map<string | undefined, string>()

beforeAll(async () => {
  await setPlanLimits(api.stores.postgres, 'pro', { requestsPerMinute: 1, eventsPerMinute: 1 })
  // With more random cases there are more requests than a plan has for a minute.
  await setPlanLimits(api.stores.postgres, 'scale', { requestsPerMinute: 1_000_000, eventsPerMinute: 1_000_000 })
  key = await api.account('acme')
  otherKey = await api.account('other')
  await api.account('narrow', { plan: 'pro' })
  freeKey = await api.account('free', { plan: 'free', scopes: [] })
  const revoked = await makeKey(api.stores, 'acme')
  await revokeKey(api.stores.postgres, revoked.id)
  revokedKey = revoked.key
  expiredKey = (await makeKey(api.stores, 'acme', scopes, { expiresAt: new Date(testNowMs) })).key
  for (const lacking of new Set(operations.map(({ scope }) => scope))) {
    const others = scopes.filter((name) => name !== lacking)
    narrowKeys.set(lacking, await api.keyOf('acme', others))
  }
  for (const table of namedTables) {
    await storeMetadata(api.stores, table, 'acme', [{ id: 'mine' }])
    await storeMetadata(api.stores, table, 'other', [{ id: 'theirs' }])
  }
  const clicked_at = '2026-11-20 10:00:00.000'
  await storeClicks(api.stores, 'acme', [{ id: 'my-click', clicked_at, campaign_id: 'mine' }])
  await storeClicks(api.stores, 'other', [{ id: 'their-click', clicked_at, campaign_id: 'theirs' }])
  await storeEvents(api.stores, 'acme', [{ id: 'mine', occurred_at: clicked_at }])
  await storeEvents(api.stores, 'other', [{ id: 'theirs', occurred_at: clicked_at }])
})

/** How a request differs from the valid one of its endpoint. */
interface Difference {
  method?: string
  /** Replaces the valid key; null sends none. */
  authorization?: string | null
  /** Parameters that replace or extend the valid ones; null removes one. */
  query?: Record<string, string | null>
  /** Appended to the query string without encoding. */
  rawQuery?: string
  id?: string
  path?: string
  body?: object | string
  contentType?: string
  contentEncoding?: string
}

const goodBody = { click_id: 'my-click', event_name: 'paid' }
const goodBodies: Record<string, object> = { '/events': goodBody, '/events/batch': { events: [goodBody] } }

async function send(operation: Operation, difference: Difference = {}, app = api.app): Promise<LightMyRequestResponse> {
  const { method = operation.method, authorization = `ApiKey ${key}`, body = goodBodies[operation.path] } = difference
  const required = operation.query.filter(isNeeded).map(({ name }) => [name, goodValues[name]])
  const query = Object.entries({ ...Object.fromEntries(required), ...difference.query })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  const path = difference.path ?? operation.path.replace('{id}', difference.id ?? 'mine')
  const search = [...query, ...(difference.rawQuery === undefined ? [] : [difference.rawQuery])].join('&')
  return await app.inject({
    method: method as 'GET',
    url: `/api/v1${path}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...(authorization !== null && { authorization }),
      ...(operation.body && { 'content-type': difference.contentType ?? 'application/json' }),
      ...(difference.contentEncoding && { 'content-encoding': difference.contentEncoding }),
    },
    ...(operation.body && { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
  })
}

/** Sends a request and expects that problem: status, code, form, headers, and a description in the OpenAPI document. */
async function expectProblem(
  operation: Operation,
  difference: Difference,
  [status, code, param]: [status: number, code: string, param?: string],
  app = api.app,
): Promise<LightMyRequestResponse> {
  const response = await send(operation, difference, app)
  const body = response.json()
  assertSchema(ProblemBody, body, operation.path)
  expect([difference, response.statusCode, body.error, body.param]).toEqual([difference, status, code, param])
  expect(body.message).toMatch(/^[^\n]+\.$/)
  // Messages describe formats in words, not as regular expressions.
  expect(body.message).not.toContain('text that matches')
  expect(body.requestId).toBe(response.headers['x-request-id'])
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect('retry-after' in response.headers).toBe(status === 429 || status === 503)
  expect(response.headers['cache-control']).toBe('private, no-store')
  expect(response.headers['www-authenticate']).toBe(status === 401 ? 'ApiKey' : undefined)
  expect('x-ratelimit-remaining' in response.headers).toBe(status !== 401)
  if (status !== 405) expect(operation.responses[status]?.description).toContain(`\`${code}\``)
  return response
}

describe.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  '%s',
  (_name, operation) => {
    it('200 for a valid request', async () => {
      const response = await send(operation)
      expect(response.statusCode).toBe(200)
      expect(response.headers['cache-control']).toBe(response.headers.etag ? 'private, no-cache' : 'private, no-store')
    })

    it('401 without a valid key', async () => {
      const cases: [string | null, string][] = [
        [null, 'missing_api_key'],
        [`ApiKey ${makeKeyText()}`, 'invalid_api_key'],
        [`ApiKey ${revokedKey}`, 'revoked_api_key'],
        [`ApiKey ${expiredKey}`, 'expired_api_key'],
        ['', 'missing_api_key'],
        ['ApiKey', 'missing_api_key'],
        ['Bearer ', 'missing_api_key'],
        [`ApiKey ${key}x`, 'invalid_api_key'],
        [`ApiKey ${key} x`, 'invalid_api_key'],
        [`ApiKey Bearer ${key}`, 'invalid_api_key'],
        ['Basic ', 'missing_api_key'],
        [`Basic ${btoa(key)}`, 'invalid_api_key'],
        [`Basic ${btoa(`user:${makeKeyText()}`)}`, 'invalid_api_key'],
        [`Basic ${btoa(`user:${revokedKey}`)}`, 'revoked_api_key'],
        [`Bearer ${makeKeyText()}`, 'invalid_api_key'],
        [makeKeyText(), 'invalid_api_key'],
      ]
      // In the suite every form of the header is sent to the first endpoint.
      const isWhole = operation === operations[0] || randomCasesFactor > 1
      for (const [authorization, code] of isWhole ? cases : cases.slice(0, 4))
        await expectProblem(operation, { authorization }, [401, code])
    })

    const { scope } = operation
    it.runIf(scope)('403 insufficient_scope, with the required scope, for a key with all other scopes', async () => {
      const difference = { authorization: `ApiKey ${narrowKeys.get(scope)}` }
      const response = await expectProblem(operation, difference, [403, 'insufficient_scope'])
      expect(response.json().required).toBe(scope)
    })

    it('403 plan_required for an account with a plan without the API, before the scope check', async () => {
      const response = await expectProblem(operation, { authorization: `ApiKey ${freeKey}` }, [403, 'plan_required'])
      expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' })
    })

    it('429 rate_limited above the limit per minute, checked after the scope and before the request is validated', async () => {
      const [all, none] = [await api.keyOf('narrow', scopes), await api.keyOf('narrow', [])]
      const invalid: Difference = { rawQuery: 'nope=1', body: '{', id: '%20' }
      for (const used of [all, none]) await send(operation, { authorization: `ApiKey ${used}` })
      const limited = { ...invalid, authorization: `ApiKey ${all}` }
      const response = await expectProblem(operation, limited, [429, 'rate_limited'])
      expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      const unscoped = { ...invalid, authorization: `ApiKey ${none}` }
      await expectProblem(operation, unscoped, scope ? [403, 'insufficient_scope'] : [429, 'rate_limited'])
      await expectProblem(operation, { ...invalid, authorization: null }, [401, 'missing_api_key'])
    })

    it('405 method_not_allowed for every other method, with an Allow header', async () => {
      const path = operation.path.replace('{id}', 'mine')
      const matches = (one: Operation) => new RegExp(`^${one.path.replace('{id}', '[^/]+')}$`).test(path)
      const methods = operations.filter(matches).map(({ method }) => method)
      const allowed = [...new Set(methods)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (allowed.includes(method)) continue
        const response = await expectProblem(operation, { method }, [405, 'method_not_allowed'])
        expect(response.headers.allow).toBe(allowed.toSorted().join(', '))
        // Rows arrive by commands.
        const isRow = /^\/(clicks|conversions|costs)$/.test(path) && method.startsWith('P')
        expect(/tributary feed.*tributary import/.test(response.json().message)).toBe(isRow)
      }
    })

    it('400 unknown_parameter for a parameter that it does not have', async () => {
      for (const name of ['nope', 'Limit', '__proto__', 'api_key', 'account_id'])
        await expectProblem(operation, { query: { [name]: '1' } }, [400, 'unknown_parameter', name])
    })

    for (const parameter of operation.query) {
      it(`400 invalid_${parameter.name} for an invalid value`, async () => {
        const { name, required } = parameter
        // A report with `to` and without `from` is refused because of `from`.
        const others = { ...(name === 'to' && { from: '2026-10-31' }), ...otherEnds[name] }
        const expectInvalid = ({ query, ...difference }: Difference) =>
          expectProblem(operation, { ...difference, query: { ...others, ...query } }, [400, `invalid_${name}`, name])
        for (const value of badValuesOf(operation, parameter)) await expectInvalid({ query: { [name]: value } })
        if (required) await expectInvalid({ query: { [name]: null } })
        if (isTestedBefore(operation, name)) return
        await expectInvalid({ query: { [name]: null }, rawQuery: `${name}=%ff` })
        await expectInvalid({ query: { [name]: null }, rawQuery: name })
        const good = goodValues[name] ?? String(parameter.schema.enum?.[0] ?? parameter.schema.minimum ?? 'true')
        // Lists may be repeated: test/http/validation.test.ts.
        if (!/separated by commas/.test(parameter.description))
          await expectInvalid({ query: { [name]: null }, rawQuery: `${name}=${good}&${name}=${good}` })
      })
    }

    if (operation.query.some(({ name }) => name === 'from'))
      it('400 invalid_date_range when from is not before the end', async () => {
        const ranges = [
          ['2026-11-02', '2026-11-01'],
          ['2026-11-01T10:00:00Z', '2026-11-01T10:00:00Z'],
          ['2026-11-01T10:00:00Z', '2026-11-01T11:00:00+02:00'],
          ['2026-11-02T00:00:00Z', '2026-11-01'],
        ] as const
        // Checksums have dates only.
        const isAllowed = operation.path.startsWith('/checksums') ? (text: string) => !text.includes('T') : () => true
        for (const [from, to] of ranges.filter((range) => range.every(isAllowed)))
          await expectProblem(operation, { query: { from, to } }, [400, 'invalid_date_range'])
      })

    if (['/reports', '/stats/overview', '/stats/daily'].includes(operation.path))
      it('400 for a range of more than 366 days, or 31 by hour, or without from', async () => {
        const byHour = operation.path === '/reports' ? { group_by: 'country,hour' } : { interval: 'hour' }
        const limits = [
          ['2025-11-21', '2025-11-20', {}],
          ['2026-10-22', '2026-10-21', byHour],
        ] as const
        for (const [longest, tooLong, more] of operation.path === '/stats/overview' ? limits.slice(0, 1) : limits) {
          const query = { ...more, to: '2026-11-21' }
          expect((await send(operation, { query: { ...query, from: longest } })).statusCode).toBe(200)
          await expectProblem(operation, { query: { ...query, from: tooLong } }, [400, 'invalid_date_range'])
        }
        await expectProblem(operation, { query: { from: '2025-01-01' } }, [400, 'invalid_date_range'])
        await expectProblem(operation, { query: { to: '2026-11-21' } }, [400, 'invalid_from', 'from'])
      })

    if (operation.query.some(({ name }) => name === 'compare_from'))
      it('400 for one end of a range to compare with, or for two comparisons', async () => {
        const [from, to] = [{ compare_from: '2026-11-01' }, { compare_to: '2026-11-02' }]
        const expectInvalid = (query: Record<string, string>, name: string) =>
          expectProblem(operation, { query }, [400, `invalid_${name}`, name])
        await expectInvalid(from, 'compare_to')
        await expectInvalid(to, 'compare_from')
        await expectInvalid({ ...from, ...to, compare: 'previous_year' }, 'compare_from')
      })

    if (operation.hasId)
      it('404 not_found, with the same body, for an absent row, a row of another account and an invalid id', async () => {
        const bodies = []
        for (const id of ['absent', 'theirs', '%20', 'a'.repeat(129), '%C3%A9', "'--", '..%2F..']) {
          const response = await expectProblem(operation, { id }, [404, 'not_found'])
          bodies.push({ ...response.json(), requestId: '' })
        }
        expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
        expect((await send(operation, { id: 'theirs', authorization: `ApiKey ${otherKey}` })).statusCode).toBe(200)
      })

    const { body: fields } = operation
    if (fields)
      describe('the request body', () => {
        it('400 for invalid JSON and for JSON that is not an object', async () => {
          for (const body of ['', '{', "{'a':1}", '{"a":NaN}', '\0', '{"event_name":"a"}}'])
            await expectProblem(operation, { body }, [400, 'invalid_json'])
          for (const body of ['[]', 'null', '1', '"x"', 'true', '[{}]'])
            await expectProblem(operation, { body }, [400, 'invalid_body'])
        })

        it('400 for a body that is not UTF-8', async () => {
          for (const encoding of ['latin1', 'utf16le'] as const) {
            const body = Buffer.from('{"event_name":"a","properties":{"city":"M\u00fcnchen"}}', encoding)
            await expectProblem(operation, { body }, [400, 'invalid_json'])
          }
        })

        it('415 for a body with a Content-Encoding', async () => {
          for (const contentEncoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'nonsense'])
            await expectProblem(operation, { contentEncoding }, [415, 'unsupported_media_type'])
        })

        it('413 above the size limit, 415 for another content type', async () => {
          const more = 'x'.repeat(operation.path === '/events' ? 65_536 : 4 * 1_048_576)
          const body = { ...goodBodies[operation.path], more }
          await expectProblem(operation, { body }, [413, 'payload_too_large'])
          for (const contentType of ['text/plain', 'application/xml', 'multipart/form-data', ''])
            await expectProblem(operation, { contentType }, [415, 'unsupported_media_type'])
        })
      })

    if (fields && 'events' in fields)
      it('400 invalid_events for anything but 1 to 1,000 events', async () => {
        for (const events of [undefined, null, 'x', {}, [], Array.from({ length: 1_001 }, () => goodBody)])
          await expectProblem(operation, { body: { events } }, [400, 'invalid_events', 'events'])
      })

    if (fields && 'event_name' in fields)
      describe('the fields of the event', () => {
        const withField = (name: string, value: unknown) => ({ ...baseOf(name), [name]: value })

        it('has no untested field', () => {
          expect(Object.keys(fields).toSorted()).toEqual(Object.keys({ ...badFields, ...ignoredFields }).toSorted())
        })

        it.each(Object.entries(badFields))('400 for an invalid %s, with its name', async (name, bad) => {
          for (const value of bad) {
            const difference = { body: withField(name, value) }
            await expectProblem(operation, difference, [400, `invalid_${name}`, name])
          }
        })

        it.each(Object.entries(ignoredFields))('200 for an invalid %s, which is ignored', async (name, bad) => {
          for (const value of bad) {
            const response = await send(operation, { body: withField(name, value) })
            expect([value, response.statusCode, response.json()]).toEqual([value, 200, { accepted: true }])
          }
        })

        it('400 for a missing field', async () => {
          const missing = (body: object) => ({ body })
          await expectProblem(operation, missing({ click_id: 'my-click' }), [400, 'invalid_event_name', 'event_name'])
          await expectProblem(operation, missing({ event_name: 'paid' }), [400, 'missing_identifier'])
          const visitor = { event_name: 'paid', visitor_id: 'v' }
          await expectProblem(operation, missing(visitor), [400, 'invalid_campaign_id', 'campaign_id'])
        })

        it('404, with the same body, for an absent click or campaign and one of another account', async () => {
          const bodies = []
          for (const click_id of ['absent', 'their-click']) {
            const body = { click_id, event_name: 'paid' }
            bodies.push((await expectProblem(operation, { body }, [404, 'click_not_found', 'click_id'])).json().message)
          }
          for (const campaign_id of ['absent', 'theirs']) {
            const body = { visitor_id: 'v', campaign_id, event_name: 'paid' }
            const response = await expectProblem(operation, { body }, [404, 'campaign_not_found', 'campaign_id'])
            bodies.push(response.json().message)
          }
          expect([bodies[0], bodies[2]]).toEqual([bodies[1], bodies[3]])
        })
      })
  },
)

const badLists = [',', 'a,', ',a', '!', '!,', 'a\\', 'a\\n', 'a,\\!b', '!\\!', Array(101).fill('a').join(',')]
const idFilterNames = ['campaign_id', 'offer_id', 'landing_page_id', 'traffic_source_id', 'visitor_id', 'click_id']
const badFilterIds = ['a b', 'é', 'a/b', 'a'.repeat(65), "' OR 1=1", 'a\n', '*', '%', 'k1,k 2']

const nested = (depth: number): unknown => (depth === 1 ? ['is', 'country', ['US']] : ['not', nested(depth - 1)])
const badFilterTrees = [
  ...`x [] {} null [1] [[]] [["is"]] [["is","country"]] [["is","country","US"]] [["is","country",[]]]
    [["is","country",[1]]] [["is","country",[""]]] [["is","country",["USA"]]] [["is","planet",["x"]]]
    [["is","campaign",["x"]]] [["is","from",["x"]]] [["is","__proto__",["x"]]] [["is",{"toString":1},["US"]]]
    [["is",["country"],["US"]]] [[">=","cost",0.0000004]] [["IS","country",["US"]]]
    [["__proto__","country",["US"]]] [["is","country",["US"],1]] [["and"]] [["or",[]]] [["not"]] [["not",[]]]
    [["and",[["is","country",["US"]]],1]] [["contains","sub1",["\\u0000"]]] [["contains","sub1",["\\ud800"]]]
    ["is","country",["US"]] [[">=","planet",1]] [[">=","cost","1"]] [[">=","cost",1e300]]
    [["or",[[">=","cost",1]]]] [["!=","cost",1]] [[">=","visitors",1]]`.split(/\s+/),
  JSON.stringify([nested(5)]),
  JSON.stringify([['is', 'sub1', Array(101).fill('a')]]),
  JSON.stringify(Array(101).fill(['is', 'sub1', ['a']])),
  JSON.stringify([['is', 'sub1', ['é'.repeat(2_048)]]]),
  '['.repeat(4_000),
]

/** The other end of a range, with an invalid one. */
const otherEnds: Record<string, Record<string, string>> = {
  compare_from: { compare_to: '2026-11-02' },
  compare_to: { compare_from: '2026-11-02' },
  previous_until: { from: '2026-11-01', to: '2026-11-02', compare: 'previous_period' },
}

/** Invalid values of parameters by name, in addition to those that follow from the schema. */
const badValues: Record<string, readonly string[]> = {
  limit: ['1.5', '1e2', ' 1', '+1', 'x', '0x10', '-1', '9'.repeat(30)],
  days: ['1.5', '1e1', '-1', '١', 'NaN'],
  range: ['this_day', 'Today', 'last_month,today', '__proto__', 'constructor_week'],
  filters: badFilterTrees,
  cursor: ['x', 'bm9uZQ', 'null', 'a'.repeat(2_049), 'WyJ4IiwxLCJhIl0'],
  from: [
    '2026-02-30',
    '2026-13-01T10:00',
    '2026-11-01 25:00',
    '1793491200',
    'today',
    '2026-11-01T24:30:00Z',
    '26-11-01',
  ],
  to: ['2026-02-30', '2026-11-31', '2026-11-01 00:00:00 CET', 'now', '2026-11-01T10:00:00+2', '2026-1-1'],
  ...Object.fromEntries(
    [...filterNames, ...conversionAttributeNames, ...columnFilterNames].map((name) => [name, badLists]),
  ),
  ...Object.fromEntries(idFilterNames.map((name) => [name, [...badLists, ...badFilterIds]])),
  country: [...badLists, 'USA', 'US,ſs', 'Germany', '__proto__'],
  device: [...badLists, 'phone', 'mobıle', 'mobile,__proto__'],
  event_name: ['a,', ',a'],
  origin: ['pixel', 'Server', 'server,browser'],
  click_id: ['a b', 'é', 'a'.repeat(65), '*', 'c1,'],
  visitor_id: ['a b', 'é', 'a'.repeat(65), '*', ',v1'],
  converted: ['1', '0', 'yes', 'ᵀRUE', 'null'],
  is_bot: ['1', '0', 'yes', 'falſe', '!true'],
  is_test: ['1', '0', 'yes', 'true,false', '__proto__'],
  dry_run: ['1', '0', 'yes', 'null', 'constructor'],
  include_test_mode: ['1', '0', 'yes', 'no'],
  status: ['dead', 'Active', 'APPROVED', ',', 'approved,', 'approved,dead', 'approved, pending', '!active,paused'],
  source: ['CPA', 'all,cpa', 'none', 'cpa,none'],
  q: ['a', ' a ', '🎈', 'a'.repeat(101), '  '],
  fields: ['nope', 'id,', 'id,,id', 'ID', 'id, id', 'password', 'id;name'],
  tz: ['Mars/Olympus', '+05:30', 'Z', 'UTC\n', 'Europe/Berlin/x', '__proto__', 'a'.repeat(65), '../../etc/passwd'],
  order: ['up', 'ASC', 'asc,desc', 'oldest'],
  updated_since: ['2026-02-30', '2026-11-01T00:00:00', '1793491200', 'yesterday', '2026-11-01T24:30:00Z'],
  updated_after: ['2026-02-30', '2026-11-01T00:00:00', '1793491200', 'yesterday', '2026-11-01T24:30:00Z'],
  csv_escape: ['all', 'Formulas', 'true', 'formulas,formulas', '__proto__'],
  csv_decimal: ['point', 'Comma', ';', 'comma,comma', '__proto__'],
  format: ['xml', 'CSV', 'csv,ndjson', 'text/csv', '__proto__'],
  group_by: ['planet', 'Day', 'day,day', 'day,', 'day,country,os,browser', '__proto__', 'day '],
  sort: ['planet', '+clicks', 'clicks,id', '--clicks', 'Clicks', '__proto__'],
  metrics: ['planet', 'clicks,', 'clicks, cost', 'Clicks', '__proto__'],
  count_at: ['clicked', 'Click', 'click,conversion', '__proto__'],
  bots: ['true', 'Only', 'exclude,only', '__proto__'],
  compare: ['last_week', 'previous_month', 'true', '__proto__'],
  compare_from: ['2026-02-30', 'today', '2026-11-01T24:30:00Z', '2026-11-03'],
  compare_to: ['2026-02-30', 'now', '2026-11-01T10:00:00+2400', '2027-11-03'],
  previous_until: ['2026-02-30', '2026-11-01T10:00', '2026-10-29', '2026-11-01T00:00:00.001Z'],
  offset: ['1.5', '1e2', 'x', '0x10', '9'.repeat(30)],
  min_clicks: ['1.5', '1e2', 'x', '-1', '9'.repeat(30)],
  min_conversions: ['1.5', '1e2', 'x', '-1', '9'.repeat(30)],
  interval: ['minute', 'Day', 'day,week', '__proto__'],
  totals: ['1', 'yes', 'TRUE', 'true'],
  csv_bom: ['1', 'yes', 'TRUE', 'true'],
  steps: ['visit,', 'visit, signup', '1st,visit', 'event:,visit', 'event:event:a,b', Array(9).fill('a').join(',')],
  by: ['Visitor', 'visitor,click', 'campaign', '__proto__'],
  window: ['0d', '31d', '721h', '7', 'd', '1.5d', '7D', '-1d', '1w', '07d'],
}

/** In the suite every value of a parameter is sent to one endpoint. At the others one value shows that they check it. */
function isTestedBefore(operation: Operation, name: string): boolean {
  const first = operations.find(({ query }) => query.some((parameter) => parameter.name === name))
  return operation !== first && randomCasesFactor === 1
}

function badValuesOf(operation: Operation, { name, schema }: Parameter): string[] {
  const named = badValues[name]
  if (!named) throw new Error(`The parameter ${name} has no entry in badValues.`)
  if (isTestedBefore(operation, name)) return named.slice(0, 1)
  const { minimum, maximum, enum: allowed } = schema
  return [
    '',
    '\0',
    'a\0b',
    `${'x'.repeat(9_000)} `,
    ...named,
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ...(allowed ? [`${allowed[0]} `, String(allowed[0]).toUpperCase()] : []),
  ]
}

const badIds = ['', ' ', 'a b', 'é', 'a/b', 5, true, {}, ['a'], 'a\n', 'a\0']

const badFields: Record<string, readonly unknown[]> = {
  event_name: ['', 'a b', '1a', '_a', 'é', 'a'.repeat(65), 5, null, {}, ['a'], 'a\n', 'a-b'],
  click_id: [...badIds, 'a'.repeat(65)],
  visitor_id: [...badIds, 'a'.repeat(65)],
  campaign_id: [...badIds, 'a'.repeat(65)],
  event_id: [...badIds, 'a'.repeat(129)],
  value: ['1', '', true, {}, [1]],
  timestamp: ['', 'now', '2026-02-30', '2026-11-21T25:00:00Z', 1_790_000_000, true, {}, '21.11.2026'],
}

/** Invalid values of optional fields: the event is accepted without them. */
const ignoredFields: Record<string, readonly unknown[]> = {
  currency: ['', 'usd', 'US', 'ZZZ', 5, true, {}, ['USD'], 'USD\n'],
  properties: ['', 'a', 5, true, ['a'], { a: {} }, { ['k'.repeat(65)]: 1 }, { a: 'x'.repeat(9_000) }],
}

/** The valid body for an invalid field. `campaign_id` is validated only with `visitor_id` and without `click_id`. */
function baseOf(field: string): object {
  if (field !== 'campaign_id') return goodBody
  const { click_id: _click, ...rest } = goodBody
  return { ...rest, visitor_id: 'v' }
}

// The tests below break the stores.

/** Endpoints that read rows; the others return the record of the key alone. */
const storeOperations = operations.filter(({ scope }) => scope !== undefined)
const metadataPath = /^\/(campaigns|offers|landing-pages|traffic-sources)/
/** Reads of ClickHouse; events retry a slow store, see test/api/events. */
const onClickHouse = storeOperations.filter(({ method, path }) => method === 'GET' && !metadataPath.test(path))

const openApp = (stores: Stores) =>
  buildApp({
    settings: api.stores.settings,
    stores,
    now: () => testNowMs,
    responseCache: openResponseCache({ ttlMs: 0 }),
  })

let unavailable: Stores | undefined
/** Gives tables their names again, so that the next file can use the stores. */
let showTables = async () => {}
afterAll(async () => {
  await unavailable?.close()
  await showTables()
})

/** How stores break, in this order: the last one changes the tables. */
const breaks: { why: string; list: readonly Operation[]; problem: [number, string]; open: () => Promise<App> }[] = [
  {
    why: '503 query_timeout when a ClickHouse query times out',
    list: onClickHouse,
    problem: [503, 'query_timeout'],
    open: () =>
      openApp({ ...api.stores, clickhouse: withLimit(api.stores.clickhouse, { max_execution_time: 0.000_01 }) }),
  },
  {
    why: '503 unavailable when the stores are unavailable',
    list: storeOperations,
    problem: [503, 'unavailable'],
    async open() {
      unavailable = await openStores(api.stores.settings, () => {})
      const app = await openApp(unavailable)
      // Caches the key, so that it is valid without Postgres.
      expect(await getFrom(app, '/offers', key)).toMatchObject({ statusCode: 200 })
      unavailable.clickhouse.moveTo({ url: 'http://127.0.0.1:1', username: 'x', password: '', database: 'nowhere' })
      await Promise.all([unavailable.postgres.end(), unavailable.postgresReader.end()])
      return app
    },
  },
  {
    why: '500 internal_error for an unexpected error of a store, without internal details',
    list: storeOperations,
    problem: [500, 'internal_error'],
    async open() {
      const { clickhouse, postgres } = api.stores
      const renameAll = async (rename: (table: string) => [from: string, to: string]) => {
        for (const [from, to] of namedTables.map(rename))
          await postgres`ALTER TABLE ${postgres(from)} RENAME TO ${postgres(to)}`
      }
      await renameAll((table) => [table, `hidden_${table}`])
      showTables = () => renameAll((table) => [`hidden_${table}`, table])
      return await openApp({ ...api.stores, clickhouse: withLimit(clickhouse, { max_columns_to_read: '1' }) })
    },
  },
]

describe.each(breaks)('$why', ({ list, problem, open }) => {
  let app: App
  beforeAll(async () => {
    app = await open()
  })
  afterAll(() => app?.close())

  // Concurrently: events wait ten seconds for unavailable stores.
  it.concurrent.each(list.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s',
    async (_name, operation) => {
      const response = await expectProblem(operation, {}, problem, app)
      expect(response.body).not.toMatch(/127\.0\.0\.1|ECONN|nowhere|select|hidden_|column|relation/i)
      if (problem[0] === 500) expect(response.json().message).toMatch(/^Internal server error; include the request id/)
    },
  )
})

function withLimit(clickhouse: ClickHouse, limit: ReadRequest['settings']): ClickHouse {
  const { client } = clickhouse
  const limited = new Proxy(client, {
    get: (target, name) =>
      name === 'read'
        ? (order: ReadRequest) => target.read({ ...order, settings: { ...order.settings, ...limit } })
        : Reflect.get(target, name),
  })
  return Object.create(clickhouse, { reader: { value: limited } })
}
