// @module-tag postgres

import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { hashOfKey } from '../../src/accounts/keyFormat.ts'
import { readAccountKeys } from '../../src/accounts/keyTransfer.ts'
import { type KeyRow, listKeys, markShown } from '../../src/accounts/manageKeys.ts'
import { runHere, runJson } from '../cli/runCommand.ts'
import { makeKey } from '../kit/accounts.ts'
import { useTestApp } from '../kit/app.ts'

const server = useTestApp()

/** Makes an account with a key, as of a `key create` that was killed before it printed the key. */
async function interrupted(accountId: string): Promise<KeyRow> {
  await createAccount(server.stores.postgres, { id: accountId, name: accountId, plan: 'pro', currency: 'USD' })
  return (await unshownKey(accountId)).row
}

const unshownKey = (accountId: string) =>
  makeKey(server.stores, accountId, ['read:clicks'], { name: 'BI', isShown: false })

async function create(accountId: string, name = 'BI'): Promise<{ id: string; key: string }> {
  const words = ['key', 'create', '--account', accountId, '--name', name, '--scopes', 'all', '--json']
  const { code, stdout, stderr } = await runHere(words, server.stores.environment)
  expect([code, stderr.replace(/^Another command is creating .+\n/, '')]).toEqual([0, ''])
  return JSON.parse(stdout)
}

const idsOf = async (accountId: string) => (await listKeys(server.stores.postgres, accountId)).map(({ id }) => id)

describe('a key that was never shown, because its creation was interrupted', () => {
  it('is replaced when the command is run again, which the audit log records', async () => {
    const { id: unshown } = await interrupted('again')
    const { id, key } = await create('again')
    expect(await idsOf('again')).toEqual([id])
    expect((await server.get('/clicks', key)).statusCode).toBe(200)
    const { entries } = await runJson(['audit', 'list', '--account', 'again'], server.stores.environment)
    expect(entries.at(-1)).toMatchObject({ action: 'key.create', details: { key: id, replaces: unshown } })
  })

  it('is not replaced by a key with another name, nor once it has been shown or used', async () => {
    const { postgres } = server.stores
    const row = await interrupted('kept')
    await create('kept', 'other')
    expect(await idsOf('kept')).toContain(row.id)
    await markShown(postgres, row)
    await create('kept')
    const used = await unshownKey('kept')
    expect((await server.get('/clicks', used.key)).statusCode).toBe(200)
    const lastUse = async () => (await listKeys(postgres, 'kept')).find(({ id }) => id === used.id)?.lastUsedAt
    await expect.poll(lastUse).toBeInstanceOf(Date)
    await create('kept')
    expect(await idsOf('kept')).toEqual(expect.arrayContaining([row.id, used.id]))
    expect(await idsOf('kept')).toHaveLength(5)
  })

  it('is listed and exported as an unused key', async () => {
    const row = await interrupted('listed')
    expect(row.lastUsedAt).toBeNull()
    const { keys } = await runJson(['key', 'list', '--account', 'listed'], server.stores.environment)
    expect(keys).toMatchObject([{ id: row.id, lastUsedAt: null }])
    expect(await readAccountKeys(server.stores.postgres, 'listed')).toMatchObject([{ id: row.id, lastUsedAt: null }])
  })

  it('is not a key that a concurrent command is about to show', async () => {
    await interrupted('concurrent')
    const shown = await Promise.all([1, 2, 3].map(() => create('concurrent')))
    const stored = (await readAccountKeys(server.stores.postgres, 'concurrent')).map(({ hash }) => hash)
    expect(stored.sort()).toEqual(shown.map(({ key }) => hashOfKey(key)).sort())
  })
})
