// @module-tag all
// @module-tag postgres

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount, setPlanOfAccount } from '../../src/accounts/accounts.ts'
import { beginDeletion } from '../../src/accounts/deletion.ts'
import { type KeyCache, openKeyCache } from '../../src/accounts/keyCache.ts'
import { hashOfKey } from '../../src/accounts/keyFormat.ts'
import { readAccountKeys, storeKeys } from '../../src/accounts/keyTransfer.ts'
import { findKey, revokeKey, rotateKey } from '../../src/accounts/manageKeys.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { packageRoot } from '../../src/package.ts'
import { migratePostgres } from '../../src/stores/migrations/migrate.ts'
import { assertUtf8, listenTo, openPostgres, type Postgres } from '../../src/stores/postgres/connection.ts'
import { makeKey } from '../kit/accounts.ts'
import { useOpened } from '../kit/fixtures.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'

describe.skipIf(!hasPostgres())('a Postgres server', () => {
  const server = useOpened(startPostgres)
  let postgres: Postgres
  /** Its clock does not advance, so that no key is read again because of its age. */
  let keys: KeyCache
  let notices: (string | undefined)[]

  beforeAll(async () => {
    postgres = openPostgres({ url: server.url('tributary') })
    await migratePostgres(postgres, packageRoot)
    keys = openKeyCache(postgres, () => 1_000_000)
    notices = []
    await new Promise<void>((resolve) => {
      listenTo(postgres, 'tributary_keys', (hash) => {
        notices.push(hash)
        keys.expire(hash === '*' ? undefined : hash)
        resolve()
      })
    })
  })
  afterAll(() => postgres?.end())

  async function keyOf(accountId: string): Promise<{ id: string; hash: string }> {
    await createAccount(postgres, { id: accountId, name: accountId, plan: 'pro', currency: 'USD' })
    const { id, key } = await makeKey({ postgres }, accountId)
    return { id, hash: hashOfKey(key) }
  }

  it('notifies of a revoked key immediately, and of no other key', async () => {
    const [ended, other] = [await keyOf('ended'), await keyOf('other')]
    for (const { hash } of [ended, other]) expect(await keys.find(hash)).toMatchObject({ isRevoked: false })
    notices.length = 0
    await revokeKey(postgres, ended.id)
    await expect.poll(async () => (await keys.find(ended.hash))?.isRevoked).toBe(true)
    expect(notices).toEqual([ended.hash])
  })

  it('rejects keys that were created or replaced while the deletion of their account began', async () => {
    const { id: replacedId } = await keyOf('leaving')
    const connection = await postgres.reserve()
    await connection`BEGIN`
    const created = await makeKey({ postgres: connection }, 'leaving')
    // Revokes the keys that are committed.
    await beginDeletion(postgres, 'leaving')
    await connection`COMMIT`
    connection.release()
    expect(await keys.find(hashOfKey(created.key))).toMatchObject({ isRevoked: true })
    expect(await rotateKey(postgres, created.id, 0, Date.now())).toBeUndefined()
    expect(await findKey(postgres, replacedId)).toMatchObject({ revokedAt: expect.any(Date), replacedBy: null })
  })

  it('stores no imported keys once the deletion of their account began', async () => {
    await keyOf('moving')
    const sent = (await readAccountKeys(postgres, 'moving')).map((key) => ({
      ...key,
      id: 'sent',
      hash: 'ab'.repeat(32),
    }))
    await beginDeletion(postgres, 'moving')
    expect(await storeKeys(postgres, 'moving', sent)).toBe(0)
  })

  it('notifies of a changed plan or its limits immediately', async () => {
    const { hash } = await keyOf('growing')
    const limitOf = async () => (await keys.find(hash))?.subscription?.requestsPerMinute
    expect(await limitOf()).toBe(600)
    await setPlanOfAccount(postgres, 'growing', 'scale')
    await expect.poll(limitOf).toBe(6_000)
    await setPlanLimits(postgres, 'scale', { requestsPerMinute: 7_000 })
    await expect.poll(limitOf).toBe(7_000)
  })

  it('notifies again after a reconnect, and missed changes are read', async () => {
    const { id, hash } = await keyOf('missed')
    expect(await keys.find(hash)).toMatchObject({ isRevoked: false })
    await server.kill()
    // On a port without listeners, so that no notification is sent.
    const unobserved = openPostgres({ url: await server.startOnNewPort() })
    await revokeKey(unobserved, id)
    await unobserved.end()
    await server.stop()
    expect(await keys.find(hash)).toMatchObject({ isRevoked: false })
    await server.start()
    await expect.poll(async () => (await keys.find(hash))?.isRevoked, { timeout: 10_000 }).toBe(true)
  })

  it('rejects in one line a database with an encoding that cannot store every name', async () => {
    await assertUtf8(postgres)
    await postgres`CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`
    const other = openPostgres({ url: server.url('latin') })
    await expect(assertUtf8(other)).rejects.toThrow(/^DATABASE_URL: the database is encoded in LATIN1.*UTF8'\.$/)
    await other.end()
  })
})
