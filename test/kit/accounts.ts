import { scopes as allScopes, type Scope } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey, type KeyRow } from '../../src/accounts/manageKeys.ts'
import type { Stores } from '../../src/stores/open.ts'

/** Creates a key of an account. @throws Error when there is no such account */
export async function makeKey(
  { postgres }: Pick<Stores, 'postgres'>,
  accountId: string,
  scopes: readonly Scope[] = allScopes,
  more: { name?: string; expiresAt?: Date | null; isShown?: boolean; view?: KeyRow['view'] } = {},
): Promise<{ key: string; id: string; row: KeyRow }> {
  const created = await createKey(postgres, { accountId, name: 'test', scopes, expiresAt: null, ...more })
  if (!created) throw new Error(`No account ${accountId}`)
  return { ...created, id: created.row.id }
}

/** Creates an account with the plan `scale`, and a key of it. */
export async function makeAccountWithKey(
  stores: Pick<Stores, 'postgres'>,
  id: string,
  scopes?: readonly Scope[],
): Promise<{ key: string; id: string }> {
  await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'USD' })
  return await makeKey(stores, id, scopes)
}

/** The caller of a request, as plans take it. Its account has all rows. */
export function callerOf(accountId: string, scopes: readonly Scope[] = []) {
  const retained = { clicksMs: 0, eventsMs: 0 }
  return { accountId, currency: 'USD', scopes: new Set(scopes), view: null, retained, freshness: {} }
}
