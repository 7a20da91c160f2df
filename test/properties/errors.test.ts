import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namedTables } from '../../schema/metadata.ts'
import { ProblemBody } from '../../schema/problem.ts'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { makeKeyText } from '../../src/accounts/keyFormat.ts'
import { createKey, revokeKey } from '../../src/accounts/keys.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { buildApp } from '../../src/app.ts'
import type { ClickHouse } from '../../src/stores/clickhouse/connection.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { mustBe, openTestApp, type TestApp, testNowMs } from '../kit/app.ts'
import { type Operation, operations, operationsOf, type Parameter } from '../kit/operations.ts'
import { changeTables, storeClicks, storeMetadata } from '../kit/rows.ts'

// The error table of the specification, row by row, at every endpoint that a row applies to. What applies follows from
// the contract, so a new endpoint is held to all of it; a new parameter needs its bad values in `badValues`.

let api: TestApp
let key: string
let otherKey: string

beforeAll(async () => {
  api = await openTestApp()
  api.stores.spoil()
  await setPlanLimits(api.stores.postgres, 'pro', { requestsPerMinute: 1, eventsPerMinute: 1 })
  key = await api.account('acme')
  otherKey = await api.account('other')
  await api.account('narrow', { plan: 'pro' })
  await api.account('free', { plan: 'free' })
  for (const table of namedTables) {
    await storeMetadata(api.stores, table, 'acme', [{ id: 'mine' }])
    await storeMetadata(api.stores, table, 'other', [{ id: 'theirs' }])
  }
  const clicked_at = '2026-11-20 10:00:00.000'
  await storeClicks(api.stores, 'acme', [{ id: 'my-click', clicked_at, campaign_id: 'mine' }])
  await storeClicks(api.stores, 'other', [{ id: 'their-click', clicked_at, campaign_id: 'theirs' }])
})
afterAll(() => api?.close())

/** How a request differs from the good one of its endpoint. */
interface Difference {
  method?: string
  /** Instead of the good key; null: none. */
  authorization?: string | null
  /** Parameters instead of, or beside, the good ones; null leaves one out. */
  query?: Record<string, string | null>
  /** After all others, as it stands. */
  rawQuery?: string
  id?: string
  path?: string
  body?: object | string
  contentType?: string
}

/** Values that every required parameter takes. */
const goodValues: Record<string, string> = { group_by: 'day', q: 'needle' }
const goodBody = { click_id: 'my-click', event_name: 'paid' }

async function ask(operation: Operation, difference: Difference = {}, app = api.app): Promise<LightMyRequestResponse> {
  const { method = operation.method, authorization = `ApiKey ${key}`, body = goodBody } = difference
  const required = operation.query.filter((parameter) => parameter.required).map(({ name }) => [name, goodValues[name]])
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
    },
    ...(operation.body && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** Asks, and holds the answer to be that problem: its status, its code, its form, its headers, and a promise of the document. */
async function expectRefusal(
  operation: Operation,
  difference: Difference,
  [status, code, param]: [status: number, code: string, param?: string],
  app = api.app,
): Promise<LightMyRequestResponse> {
  const answer = await ask(operation, difference, app)
  const body = answer.json()
  mustBe(ProblemBody, body, operation.path)
  expect([difference, answer.statusCode, body.error, body.param]).toEqual([difference, status, code, param])
  expect(body.message).toMatch(/^[^\n]+\.$/)
  // Said in words: callers do not read regular expressions.
  expect(body.message).not.toContain('text that matches')
  expect(body.requestId).toBe(answer.headers['x-request-id'])
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect('retry-after' in answer.headers).toBe(status === 429 || status === 503)
  expect(answer.headers['cache-control']).toBe('private, no-store')
  expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'ApiKey' : undefined)
  if (status !== 401 && status !== 405) expect(answer.headers).toHaveProperty('x-ratelimit-remaining')
  if (status !== 405) expect(operation.responses[status]?.description).toContain(`\`${code}\``)
  return answer
}

async function keyOf(accountId: string, wanted: readonly Scope[] = scopes, expiresAt: Date | null = null) {
  const created = await createKey(api.stores.postgres, { accountId, name: 'x', scopes: wanted, expiresAt })
  if (!created) throw new Error(`No account ${accountId}`)
  return created
}

describe('the table', () => {
  it('is held against every endpoint that the server has', async () => {
    const served = operationsOf((await api.get('/docs/json')).body)
    const shown = (list: readonly Operation[]) =>
      list.map(({ method, path, query }) => `${method} ${path} ${query.map(({ name }) => name)}`)
    expect(shown(served)).toEqual(shown(operations))
  })
})

describe.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  '%s',
  (_name, operation) => {
    it('is well when nothing is wrong', async () => {
      const answer = await ask(operation)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['cache-control']).toBe(answer.headers.etag ? 'private, no-cache' : 'private, no-store')
    })

    it('401 without a key that is in force', async () => {
      const revoked = await keyOf('acme')
      await revokeKey(api.stores.postgres, revoked.row.id)
      const expired = await keyOf('acme', scopes, new Date(testNowMs))
      const cases: [string | null, string][] = [
        [null, 'missing_api_key'],
        ['', 'missing_api_key'],
        [`ApiKey ${makeKeyText()}`, 'invalid_api_key'],
        [`ApiKey ${key}x`, 'invalid_api_key'],
        [`Bearer ${key}`, 'invalid_api_key'],
        [key, 'invalid_api_key'],
        [`ApiKey ${revoked.key}`, 'revoked_api_key'],
        [`ApiKey ${expired.key}`, 'expired_api_key'],
      ]
      for (const [authorization, code] of cases) await expectRefusal(operation, { authorization }, [401, code])
    })

    it('403 insufficient_scope for a key with every scope but its own, and names it', async () => {
      const { scope } = operation
      const { key: poor } = await keyOf(
        'acme',
        scopes.filter((name) => name !== scope),
      )
      const difference = { authorization: `ApiKey ${poor}` }
      const answer = await expectRefusal(operation, difference, [403, 'insufficient_scope'])
      expect(answer.json().required).toBe(scope)
    })

    it('403 plan_required for an account whose plan has no API', async () => {
      const { key: free } = await keyOf('free')
      await expectRefusal(operation, { authorization: `ApiKey ${free}` }, [403, 'plan_required'])
    })

    it('429 rate_limited when the minute is spent, after the scope and before anything of the request', async () => {
      const all = await keyOf('narrow')
      const none = await keyOf('narrow', [])
      const wrong: Difference = { rawQuery: 'nope=1', body: '{', id: '%20' }
      await ask(operation, { authorization: `ApiKey ${all.key}` })
      await ask(operation, { authorization: `ApiKey ${none.key}` })
      const spent = { ...wrong, authorization: `ApiKey ${all.key}` }
      const answer = await expectRefusal(operation, spent, [429, 'rate_limited'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      const unscoped = { ...wrong, authorization: `ApiKey ${none.key}` }
      await expectRefusal(operation, unscoped, [403, 'insufficient_scope'])
      await expectRefusal(operation, { ...wrong, authorization: null }, [401, 'missing_api_key'])
    })

    it('405 method_not_allowed for every other method, with those that it takes', async () => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (method === operation.method) continue
        const answer = await expectRefusal(operation, { method }, [405, 'method_not_allowed'])
        expect(answer.headers.allow).toBe(operation.method === 'GET' ? 'GET, HEAD' : 'POST')
      }
    })

    it('404 not_found for a path below it that is not there, with or without a key', async () => {
      for (const authorization of [null, `ApiKey ${key}`]) {
        const answer = await ask(operation, { path: `${operation.path.replace('{id}', 'mine')}/x/y`, authorization })
        expect([answer.statusCode, answer.json().error]).toEqual([404, 'not_found'])
      }
    })

    it('400 unknown_parameter for one that it does not have', async () => {
      for (const name of ['nope', 'Limit', '__proto__', 'api_key', 'account_id']) {
        await expectRefusal(operation, { query: { [name]: '1' } }, [400, 'unknown_parameter', name])
      }
    })

    for (const parameter of operation.query) {
      it(`400 invalid_${parameter.name} for what it must not be`, async () => {
        const { name, required } = parameter
        // A report that has only an end is refused for its beginning.
        const beside = name === 'to' ? { from: '2026-10-31' } : {}
        const refused = ({ query, ...difference }: Difference) =>
          expectRefusal(operation, { ...difference, query: { ...beside, ...query } }, [400, `invalid_${name}`, name])
        for (const value of badValuesOf(parameter)) await refused({ query: { [name]: value } })
        await refused({ query: { [name]: null }, rawQuery: `${name}=%ff` })
        await refused({ query: { [name]: null }, rawQuery: name })
        const good = goodValues[name] ?? String(parameter.schema.enum?.[0] ?? parameter.schema.minimum ?? 'true')
        await refused({ query: { [name]: null }, rawQuery: `${name}=${good}&${name}=${good}` })
        if (required) await refused({ query: { [name]: null } })
      })
    }

    if (operation.query.some(({ name }) => name === 'from'))
      it('400 invalid_date_range when from is not before the end', async () => {
        for (const [from, to] of [
          ['2026-11-02', '2026-11-01'],
          ['2026-11-01T10:00:00Z', '2026-11-01T10:00:00Z'],
          ['2026-11-01T10:00:00Z', '2026-11-01T11:00:00+02:00'],
          ['2026-11-02T00:00:00Z', '2026-11-01'],
        ] as const) {
          await expectRefusal(operation, { query: { from, to } }, [400, 'invalid_date_range'])
        }
      })

    if (operation.query.some(({ name }) => name === 'group_by'))
      it('400 for a report of more than 366 days, or without a beginning', async () => {
        const tooLong = { from: '2025-11-20', to: '2026-11-21' }
        await expectRefusal(operation, { query: tooLong }, [400, 'invalid_date_range'])
        await expectRefusal(operation, { query: { from: '2025-01-01' } }, [400, 'invalid_date_range'])
        await expectRefusal(operation, { query: { to: '2026-11-21' } }, [400, 'invalid_from', 'from'])
      })

    if (operation.hasId)
      it('404 not_found alike for a row that is absent, somebody else’s, or can’t be', async () => {
        const bodies = []
        for (const id of ['absent', 'theirs', '%20', 'a'.repeat(65), '%C3%A9', "'--", '..%2F..']) {
          const answer = await expectRefusal(operation, { id }, [404, 'not_found'])
          bodies.push({ ...answer.json(), requestId: '' })
        }
        expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
        expect((await ask(operation, { id: 'theirs', authorization: `ApiKey ${otherKey}` })).statusCode).toBe(200)
      })

    const { body: fields } = operation
    if (fields)
      describe('its body', () => {
        const withField = (name: string, value: unknown) => ({ ...baseOf(name), [name]: value })

        it('has no field that is not tried', () => {
          expect(Object.keys(fields).toSorted()).toEqual(Object.keys({ ...badFields, ...ignoredFields }).toSorted())
        })

        it.each(Object.entries(badFields))('400 for a bad %s, by its name', async (name, bad) => {
          for (const value of bad) {
            const difference = { body: withField(name, value) }
            await expectRefusal(operation, difference, [400, `invalid_${name}`, name])
          }
        })

        it.each(Object.entries(ignoredFields))('200 for a bad %s, which is left out', async (name, bad) => {
          for (const value of bad) {
            const answer = await ask(operation, { body: withField(name, value) })
            expect([value, answer.statusCode, answer.json()]).toEqual([value, 200, { accepted: true }])
          }
        })

        it('400 for what is missing', async () => {
          const missing = (body: object) => ({ body })
          await expectRefusal(operation, missing({ click_id: 'my-click' }), [400, 'invalid_event_name', 'event_name'])
          await expectRefusal(operation, missing({ event_name: 'paid' }), [400, 'missing_identifier'])
          const visitor = { event_name: 'paid', visitor_id: 'v' }
          await expectRefusal(operation, missing(visitor), [400, 'invalid_campaign_id', 'campaign_id'])
        })

        it('400 for no JSON and for no object', async () => {
          for (const body of ['', '{', "{'a':1}", '{"a":NaN}', '\0', '{"event_name":"a"}}']) {
            await expectRefusal(operation, { body }, [400, 'invalid_json'])
          }
          for (const body of ['[]', 'null', '1', '"x"', 'true', '[{}]']) {
            await expectRefusal(operation, { body }, [400, 'invalid_body'])
          }
        })

        it('404 alike for a click or a campaign that is absent or somebody else’s', async () => {
          const bodies = []
          for (const click_id of ['absent', 'their-click']) {
            const body = { click_id, event_name: 'paid' }
            bodies.push((await expectRefusal(operation, { body }, [404, 'click_not_found', 'click_id'])).json().message)
          }
          for (const campaign_id of ['absent', 'theirs']) {
            const body = { visitor_id: 'v', campaign_id, event_name: 'paid' }
            const answer = await expectRefusal(operation, { body }, [404, 'campaign_not_found', 'campaign_id'])
            bodies.push(answer.json().message)
          }
          expect([bodies[0], bodies[2]]).toEqual([bodies[1], bodies[3]])
        })

        it('413 above 64 KiB, 415 for another type', async () => {
          await expectRefusal(operation, { body: { ...goodBody, more: 'x'.repeat(65_536) } }, [
            413,
            'payload_too_large',
          ])
          for (const contentType of ['text/plain', 'application/xml', 'multipart/form-data', '']) {
            await expectRefusal(operation, { contentType }, [415, 'unsupported_media_type'])
          }
        })
      })
  },
)

/** Bad values of parameters by name, beside those that follow from the schema. */
const badValues: Record<string, readonly string[]> = {
  limit: ['1.5', '1e2', ' 1', '+1', 'x', '0x10', '-1', '9'.repeat(30)],
  days: ['1.5', '1e1', '-1', '١', 'NaN'],
  cursor: ['x', 'bm9uZQ', 'null', 'a'.repeat(2_049), 'WyJ4IiwxLCJhIl0'],
  from: ['2026-02-30', '2026-13-01', '2026-11-01T00:00:00', '1793491200', 'today', '2026-11-01T24:30:00Z', '26-11-01'],
  to: ['2026-02-30', '2026-11-31', '2026-11-01T00:00:00', 'now', '2026-11-01T10:00:00+0200', '2026-1-1'],
  campaign_id: ['a b', 'é', 'a/b', 'a'.repeat(65), "' OR 1=1", 'a\n', 'k1,k2', '*'],
  offer_id: ['a b', 'é', 'a'.repeat(65), '%', 'o1,o2'],
  converted: ['1', '0', 'yes', 'TRUE', 'null'],
  include_test_mode: ['1', '0', 'yes', 'False'],
  status: ['dead', 'Active', 'APPROVED', ',', 'approved,', 'approved,dead', 'approved, pending', 'active,paused'],
  source: ['CPA', 'cpa,revenue', 'none'],
  q: ['a', ' a ', '🎈', 'a'.repeat(101), '  '],
  fields: ['nope', 'id,', 'id,,id', 'ID', 'id, id', 'password', 'id;name'],
  tz: ['Mars/Olympus', '+05:30', 'Z', 'UTC\n', 'Europe/Berlin/x', '__proto__', 'a'.repeat(65), '../../etc/passwd'],
  order: ['up', 'ASC', 'asc,desc', 'oldest'],
  updated_since: ['2026-02-30', '2026-11-01T00:00:00', '1793491200', 'yesterday', '2026-11-01T24:30:00Z'],
  csv_escape: ['all', 'Formulas', 'true', 'formulas,formulas', '__proto__'],
  format: ['xml', 'CSV', 'csv,ndjson', 'text/csv', '__proto__'],
  group_by: ['planet', 'Day', 'day,country', '__proto__', 'day '],
}

function badValuesOf({ name, schema }: Parameter): string[] {
  const named = badValues[name]
  if (!named) throw new Error(`No bad values are known for the parameter ${name}.`)
  const { minimum, maximum, enum: words } = schema
  return [
    ...['', '\0', 'a\0b', `${'x'.repeat(5_000)} `],
    ...named,
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ...(words ? [`${words[0]} `, String(words[0]).toUpperCase()] : []),
  ]
}

const badIds = ['', ' ', 'a b', 'é', 'a/b', 5, true, {}, ['a'], 'a\n', 'a\0']

/** Bad values of fields of a body by name. */
const badFields: Record<string, readonly unknown[]> = {
  event_name: ['', 'a b', '1a', '_a', 'é', 'a'.repeat(65), 5, null, {}, ['a'], 'a\n', 'a-b'],
  click_id: [...badIds, 'a'.repeat(65)],
  visitor_id: [...badIds, 'a'.repeat(65)],
  campaign_id: [...badIds, 'a'.repeat(65)],
  event_id: [...badIds, 'a'.repeat(129)],
  value: ['1', '', true, {}, [1]],
  timestamp: ['', 'now', '2026-02-30', '2026-11-21T25:00:00Z', 1_790_000_000, true, {}, '21.11.2026'],
}

/** The same of fields that are a courtesy: whatever is wrong with them, the event is taken without. */
const ignoredFields: Record<string, readonly unknown[]> = {
  currency: ['', 'usd', 'US', 'ZZZ', 5, true, {}, ['USD'], 'USD\n'],
  properties: ['', 'a', 5, true, ['a'], { a: {} }, { ['k'.repeat(65)]: 1 }, { a: 'x'.repeat(9_000) }],
}

/** The good body that a bad field is put into; a campaign is looked at beside a visitor alone. */
function baseOf(field: string): object {
  if (field !== 'campaign_id') return goodBody
  const { click_id: _click, ...rest } = goodBody
  return { ...rest, visitor_id: 'v' }
}

// From here on the stores are no longer well.

const metadataPath = /^\/(campaigns|offers|landing-pages|traffic-sources)/
/** Events wait for a store that is slow, as their own tests say. */
const onClickHouse = operations.filter(({ method, path }) => method === 'GET' && !metadataPath.test(path))
const named = (list: readonly Operation[]) =>
  list.map((operation) => [`${operation.method} ${operation.path}`, operation] as const)

describe('503 query_timeout, when ClickHouse gives up a question', () => {
  it.each(named(onClickHouse))('%s', async (_name, operation) => {
    const { clickhouse, ...stores } = api.stores
    const app = await buildApp({
      settings: api.stores.settings,
      stores: { ...stores, clickhouse: hurried(clickhouse) },
      now: () => testNowMs,
    })
    await expectRefusal(operation, {}, [503, 'query_timeout'], app)
    await app.close()
  })
})

/** The same ClickHouse, with next to no time for a question. */
function hurried(clickhouse: ClickHouse): ClickHouse {
  const { client } = clickhouse
  const impatient = new Proxy(client, {
    get: (target, name) =>
      name === 'query'
        ? (asked: Parameters<typeof client.query>[0]) =>
            target.query({
              ...asked,
              clickhouse_settings: { ...asked.clickhouse_settings, max_execution_time: 0.000_01 },
            })
        : Reflect.get(target, name),
  })
  return Object.create(clickhouse, { reader: { value: impatient } })
}

describe('503 unavailable, when the stores are away', () => {
  let away: Stores
  let app: TestApp['app']

  beforeAll(async () => {
    away = await openStores(api.stores.settings, () => {})
    app = await buildApp({ settings: api.stores.settings, stores: away, now: () => testNowMs })
    // From now on the key is known without Postgres.
    expect((await app.inject({ url: '/api/v1/offers', headers: { authorization: `ApiKey ${key}` } })).statusCode).toBe(
      200,
    )
    away.clickhouse.moveTo({ url: 'http://127.0.0.1:1', username: 'default', password: '', database: 'nowhere' })
    await Promise.all([away.postgres.end(), away.postgresReader.end()])
  })
  afterAll(async () => {
    await app?.close()
    await away?.close()
  })

  it.each(named(operations))('%s', async (_name, operation) => {
    await expectRefusal(operation, {}, [503, 'unavailable'], app)
  })
})

describe('500 internal_error, when a question is wrong, without a word of what is inside', () => {
  beforeAll(async () => {
    const { clickhouse, postgres } = api.stores
    const query = "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
    const { client } = clickhouse.cluster?.nodes[0] ?? clickhouse
    const tables = await (await client.query({ query, format: 'JSONEachRow' })).json<{ name: string }>()
    for (const { name } of tables) await changeTables(api.stores, `RENAME TABLE ${name} TO hidden_${name}`)
    for (const table of namedTables)
      await postgres`ALTER TABLE ${postgres(table)} RENAME TO ${postgres(`hidden_${table}`)}`
  })

  it.each(named(operations))('%s', async (_name, operation) => {
    const app = await buildApp({ settings: api.stores.settings, stores: api.stores, now: () => testNowMs })
    const answer = await expectRefusal(operation, {}, [500, 'internal_error'], app)
    expect(answer.json().message).toBe('Something went wrong on our side; the request id tells us what.')
    await app.close()
  })
})
