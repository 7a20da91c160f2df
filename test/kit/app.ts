import type { TSchema } from '@sinclair/typebox'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { LightMyRequestResponse } from 'fastify'
import { ProblemBody } from '../../schema/problem.ts'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { openResponseCache, type ResponseCacheOptions } from '../../src/http/responseCache.ts'
import { openTestStores, type TestStores } from './stores.ts'

/** The moment that tests run at, unless they say otherwise: a Saturday, 15:00 UTC. */
export const testNowMs = Date.UTC(2026, 10, 21, 15)

/** A server on stores of its own, and what tests need to ask it. */
export interface TestApp {
  readonly app: App
  readonly stores: TestStores
  /** Moves the server's clock. */
  setNow(epochMs: number): void
  /** Makes an account with a key for every scope. @returns the key */
  account(id: string, options?: { plan?: string; currency?: string; scopes?: readonly Scope[] }): Promise<string>
  /** GETs a path under /api/v1; every answer that is not 2xx is checked to be a problem. */
  get(path: string, key?: string): Promise<LightMyRequestResponse>
  /** GETs a path that answers 200 with a body of that schema. */
  read<T extends TSchema>(path: string, key: string, schema: T): Promise<T['static']>
  close(): Promise<void>
}

/**
 * @param options of the answers; unless given none is kept, so that each test sees what it stored
 * @param servers addresses of servers that the file started, instead of what the suite runs on
 */
export async function openTestApp(
  options: ResponseCacheOptions = { ttlMs: 0 },
  servers?: Record<string, string>,
): Promise<TestApp> {
  const stores = await openTestStores(servers)
  let nowMs = testNowMs
  const answers = openResponseCache(options)
  const app = await buildApp({ settings: stores.settings, stores, responseCache: answers, now: () => nowMs })
  const testApp: TestApp = {
    app,
    stores,
    setNow(epochMs) {
      nowMs = epochMs
    },
    async account(id, { plan = 'scale', currency = 'USD', scopes: wanted = scopes } = {}) {
      await createAccount(stores.postgres, { id, name: id, plan, currency })
      const created = await createKey(stores.postgres, { accountId: id, name: 'test', scopes: wanted, expiresAt: null })
      if (!created) throw new Error(`No account ${id}`)
      return created.key
    },
    async get(path, key) {
      const answer = await app.inject({
        url: `/api/v1${path}`,
        headers: key === undefined ? {} : { authorization: `ApiKey ${key}` },
      })
      if (answer.statusCode >= 400) mustBe(ProblemBody, answer.json(), path)
      return answer
    },
    async read(path, key, schema) {
      const answer = await testApp.get(path, key)
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${answer.body}`)
      const body = answer.json()
      mustBe(schema, body, path)
      return body
    },
    async close() {
      await app.close()
      await stores.close()
    },
  }
  return testApp
}

const ajv = addFormats.default(new Ajv({ strict: false }))
const checks = new WeakMap<TSchema, ValidateFunction>()

/** Checks an answer against its schema; fields that the schema does not name are refused. */
export function mustBe(schema: TSchema, body: unknown, what: string): void {
  const check = checks.get(schema) ?? ajv.compile(closed(schema))
  checks.set(schema, check)
  if (!check(body)) throw new Error(`${what}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(body).slice(0, 300)}`)
}

/** The same schema with no room for fields that it does not name, all the way down. */
function closed(schema: unknown): AnySchema {
  return JSON.parse(JSON.stringify(schema), (_key, part) => {
    const { $id: _id, ...rest } = part ?? {}
    if (Array.isArray(part) || typeof part !== 'object' || part === null) return part
    return part.type === 'object' && part.properties ? { additionalProperties: false, ...rest } : rest
  })
}
