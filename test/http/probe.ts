import { Type } from '@sinclair/typebox'
import { pageParameters } from '../../schema/page.ts'
import { Id, OneOf } from '../../schema/scalars.ts'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { type AppParts, buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { notFound } from '../../src/problem.ts'
import type { Stores } from '../../src/stores/open.ts'
import { testNowMs } from '../kit/app.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'

/** A server with routes that show which requests pass access control and validation. */
export interface Probe {
  readonly app: App
  readonly stores: TestStores
  key(accountId: string, options?: { plan?: string; scopes?: readonly Scope[] }): Promise<string>
  close(): Promise<void>
}

/**
 * @param parts that replace those of a regular server
 * @param intercept returns the stores as the server sees them
 */
export async function openProbe(
  parts: Partial<AppParts> = {},
  intercept: (stores: Stores) => Stores = (stores) => stores,
): Promise<Probe> {
  const stores = await openTestStores()
  const app = await buildApp({
    settings: stores.settings,
    stores: intercept(stores),
    now: () => testNowMs,
    routes: [probeRoutes],
    ...parts,
  })
  return {
    app,
    stores,
    async key(accountId, { plan = 'scale', scopes: granted = scopes } = {}) {
      await createAccount(stores.postgres, { id: accountId, name: accountId, plan, currency: 'USD' })
      const created = await createKey(stores.postgres, { accountId, name: 'test', scopes: granted, expiresAt: null })
      if (!created) throw new Error(`no account ${accountId}`)
      return created.key
    },
    async close() {
      await app.close()
      await stores.close()
    },
  }
}

/** Every type of parameter of the API. */
export const ProbeQuery = Type.Object({
  ...pageParameters,
  group_by: OneOf(['campaign', 'day']),
  converted: Type.Optional(Type.Boolean()),
  campaign_id: Type.Optional(Type.String({ ...Id, description: 'A campaign.' })),
  q: Type.Optional(Type.String({ minLength: 2, maxLength: 5 })),
})

export function probeRoutes(app: App): void {
  app.get(
    '/probe',
    { schema: { tags: ['Probe'], querystring: ProbeQuery }, config: { scope: 'read:clicks' } },
    (request) => ({
      query: request.query,
    }),
  )
  app.get(
    '/probe/:id',
    { schema: { tags: ['Probe'], params: Type.Object({ id: Id }) }, config: { scope: 'read:clicks' } },
    ({ params, caller }) => {
      if (params.id !== 'mine') throw notFound()
      const { accountId, plan } = caller
      return { accountId, plan: plan.name }
    },
  )
  app.get('/bug', { config: { scope: 'read:clicks' } }, () => {
    throw new Error('a secret detail')
  })
  app.post(
    '/events',
    { schema: { tags: ['Events'], body: Type.Object({}) }, config: { scope: 'write:events' } },
    ({ body }) => ({ body }),
  )
}
