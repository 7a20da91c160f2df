import type { TSchema } from '@sinclair/typebox'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { LightMyRequestResponse } from 'fastify'
import { ProblemBody } from '../../schema/errorCodes.ts'
import { namedMetricPattern } from '../../schema/metrics.ts'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { type AppParts, buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { openResponseCache } from '../../src/http/responseCache.ts'
import { makeKey } from './accounts.ts'
import { useOpened } from './fixtures.ts'
import { openTestStores, type TestStores } from './stores.ts'

/** The default present time of tests: a Saturday, 15:00 UTC. */
export const testNowMs = Date.UTC(2026, 10, 21, 15)

/** A server on its own stores, and the functions by which tests use it. */
export interface TestApp {
  readonly app: App
  readonly stores: TestStores
  setNow(epochMs: number): void
  /** Creates an account and a key with all scopes unless given. @returns the key */
  account(id: string, options?: { plan?: string; currency?: string; scopes?: readonly Scope[] }): Promise<string>
  keyOf(accountId: string, scopes: readonly Scope[]): Promise<string>
  /** Requests a path under /api/v1; checks that an error response has the form of a problem. */
  get(path: string, key?: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  /** Requests a path; checks that the status is 200 and that the body fits the schema. */
  read<T extends TSchema>(path: string, key: string, schema: T): Promise<T['static']>
  /** Opens another server on the same stores, by default with the clock of this one and without a response cache. */
  open(parts?: Partial<AppParts>): Promise<App>
  close(): Promise<void>
}

/**
 * @param others that replace the parts of a regular server; by default no response is cached, so that each test reads what it
 *   stored
 * @param servers addresses of servers that the file started, instead of the engines of the suite
 */
export async function openTestApp(others: Partial<AppParts> = {}, servers?: Record<string, string>): Promise<TestApp> {
  const stores = await openTestStores(servers)
  let nowMs = testNowMs
  const build = (replaced: Partial<AppParts>) => {
    const responseCache = openResponseCache({ ttlMs: 0 })
    return buildApp({ settings: stores.settings, stores, responseCache, now: () => nowMs, ...replaced })
  }
  const app = await build(others)
  const opened = [app]
  const testApp: TestApp = {
    app,
    stores,
    setNow(epochMs) {
      nowMs = epochMs
    },
    async account(id, { plan = 'scale', currency = 'USD', scopes: granted = scopes } = {}) {
      await createAccount(stores.postgres, { id, name: id, plan, currency })
      return await testApp.keyOf(id, granted)
    },
    async keyOf(accountId, granted) {
      return (await makeKey(stores, accountId, granted)).key
    },
    async get(path, key, headers) {
      const response = await getFrom(app, path, key, headers)
      if (response.statusCode >= 400) assertSchema(ProblemBody, response.json(), path)
      return response
    },
    async read(path, key, schema) {
      const response = await testApp.get(path, key)
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${response.body}`)
      const body = response.json()
      assertSchema(schema, body, path)
      return body
    },
    async open(replaced = {}) {
      const server = await build(replaced)
      opened.push(server)
      return server
    },
    async close() {
      for (const server of opened.toReversed()) await server.close()
      await stores.close()
    },
  }
  return testApp
}

/** Requests a path under /api/v1 of any server. */
export async function getFrom(app: App, path: string, key?: string, headers: Record<string, string> = {}) {
  const authorization = key === undefined ? {} : { authorization: `ApiKey ${key}` }
  return await app.inject({ url: `/api/v1${path}`, headers: { ...authorization, ...headers } })
}

/** Opens a server on other users of the same databases: with the Postgres of stores, which it closes too. */
export async function openTestAppBeside(stores: TestStores, servers: Record<string, string>): Promise<TestApp> {
  const { DATA_DIR = '' } = stores.environment
  const opened = await openTestApp({}, { ...servers, DATA_DIR })
  return {
    ...opened,
    async close() {
      await opened.close()
      await stores.close()
    },
  }
}

export function useTestApp(...options: Parameters<typeof openTestApp>): TestApp {
  return useOpened(() => openTestApp(...options))
}

const ajv = addFormats.default(new Ajv({ strict: false }))
const checks = new WeakMap<TSchema, ValidateFunction>()

/** Checks a response body against its schema. @throws Error also when a field is not in the schema */
export function assertSchema(schema: TSchema, body: unknown, what: string): void {
  const check = checks.get(schema) ?? ajv.compile(closed(schema))
  checks.set(schema, check)
  if (!check(body)) throw new Error(`${what}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(body).slice(0, 300)}`)
}

/** The same schema with `additionalProperties: false` in every object. */
function closed(schema: unknown): AnySchema {
  return JSON.parse(JSON.stringify(schema), (_key, part) => {
    const { $id: _id, ...rest } = part ?? {}
    if (Array.isArray(part) || typeof part !== 'object' || part === null) return part
    // Metrics of the events of one name have the names of a request.
    const patternProperties = { [namedMetricPattern]: { type: 'integer' } }
    const hasNamed = part.properties?.eventVisitors ? { patternProperties } : {}
    return part.type === 'object' && part.properties ? { additionalProperties: false, ...hasNamed, ...rest } : rest
  })
}
