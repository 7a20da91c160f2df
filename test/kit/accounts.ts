import { scopes as allScopes, type Scope } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/manageKeys.ts'
import type { Stores } from '../../src/stores/open.ts'

/** Creates a key of an account. @returns the key and its id @throws Error when there is no such account */
export async function makeKey(
  { postgres }: Pick<Stores, 'postgres'>,
  accountId: string,
  scopes: readonly Scope[] = allScopes,
): Promise<{ key: string; id: string }> {
  const created = await createKey(postgres, { accountId, name: 'test', scopes, expiresAt: null })
  if (!created) throw new Error(`No account ${accountId}`)
  return { key: created.key, id: created.row.id }
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
