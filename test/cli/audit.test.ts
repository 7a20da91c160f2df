// @module-tag all
// @module-tag postgres

import { hostname, userInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const stores = useTestStores()
const json = (...words: string[]) => runJson(words, stores.environment)

async function changesOf(account: string): Promise<[string, unknown][]> {
  const { entries } = await json('audit', 'list', '--account', account)
  return entries.map(({ action, details }: { action: string; details: unknown }) => [action, details])
}

describe('the audit log', () => {
  it('has one entry per change of an account and its keys: values, the user and host that ran the command, and the time', async () => {
    await json('account', 'create', '--name', 'Acme', '--id', 'acme', '--currency', 'EUR')
    await json('account', 'set-plan', '--account', 'acme', '--plan', 'scale')
    const key = await json('key', 'create', '--account', 'acme', '--name', 'BI', '--scopes', 'read:clicks')
    await json('key', 'revoke', '--id', key.id)
    const { entries } = await json('audit', 'list', '--account', 'acme')
    expect(entries[0]).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      action: 'account.create',
      actor: `${userInfo().username}@${hostname()}`,
      accountId: 'acme',
      details: { name: 'Acme', plan: 'pro', currency: 'EUR' },
    })
    expect(await changesOf('acme')).toEqual([
      ['account.create', { name: 'Acme', plan: 'pro', currency: 'EUR' }],
      ['account.set_plan', { plan: 'scale', before: { plan: 'pro' } }],
      ['key.create', { key: key.id, name: 'BI', scopes: ['read:clicks'], expiresAt: null }],
      ['key.revoke', { key: key.id, name: 'BI' }],
    ])
  })

  it('has no entry for a command that changes nothing or fails', async () => {
    await json('account', 'create', '--name', 'Same', '--id', 'same')
    const { id } = await json('key', 'create', '--account', 'same', '--name', 'x', '--allow-events')
    await json('key', 'revoke', '--id', id)
    const before = await changesOf('same')
    await json('key', 'revoke', '--id', id)
    await json('account', 'set-plan', '--account', 'same', '--plan', 'pro')
    for (const words of [
      ['account', 'create', '--name', 'Same', '--id', 'same'],
      ['account', 'set-plan', '--account', 'same', '--plan', 'gold'],
      ['key', 'create', '--account', 'missing', '--name', 'x', '--allow-events'],
    ])
      expect((await runHere(words, stores.environment)).code).toBe(1)
    expect(await changesOf('same')).toEqual(before)
    expect(await changesOf('missing')).toEqual([])
  })

  it('records a change of a plan without an account, only when a limit changes', async () => {
    await json('plan', 'set', 'free', '--click-allowance', '20000')
    await json('plan', 'set', 'free', '--click-allowance', '20000')
    const { entries } = await json('audit', 'list')
    const ofPlans = entries.filter(({ action }: { action: string }) => action === 'plan.set')
    const limits = { hasApi: false, requestsPerMinute: null, eventsPerMinute: null, identifierEventsPerMinute: null }
    const retained = { retainedClickMonths: 0, retainedEventMonths: 0 }
    const before = { name: 'free', ...limits, clickAllowance: 10_000, ...retained }
    const details = { ...before, clickAllowance: 20_000, before }
    expect(ofPlans).toEqual([expect.objectContaining({ accountId: null, details })])
  })

  it('records the creation and the deletion of a plan', async () => {
    const plan = await json('plan', 'create', 'short', '--click-allowance', '7')
    await json('plan', 'delete', 'short')
    const { entries } = await json('audit', 'list')
    const ofPlan = entries.filter(({ details }: { details: { name?: string } }) => details.name === 'short')
    const entry = { at: expect.any(String), actor: expect.any(String), accountId: null, details: plan }
    expect(ofPlan).toEqual([
      { ...entry, action: 'plan.create' },
      { ...entry, action: 'plan.delete' },
    ])
  })

  it('is filtered by account, actor and time, together', async () => {
    const entry = { action: 'key.revoke', details: {} }
    await stores.postgres`INSERT INTO audit_log ${stores.postgres([
      { ...entry, at: new Date('2020-05-01T00:00:00Z'), actor: 'ann@api-1', account_id: 'one' },
      { ...entry, at: new Date('2020-05-02T23:59:59.999Z'), actor: 'ann@api-2', account_id: 'one' },
      { ...entry, at: new Date('2020-05-03T00:00:00Z'), actor: 'bob@api-1', account_id: 'two' },
    ])}`
    const days = async (...words: string[]) => {
      const { entries } = await json('audit', 'list', ...words)
      return entries.map(({ at }: { at: string }) => at.slice(0, 10))
    }
    const until = ['--to', '2020-12-31']
    expect(await days(...until)).toEqual(['2020-05-01', '2020-05-02', '2020-05-03'])
    expect(await days('--actor', 'ann', ...until)).toEqual(['2020-05-01', '2020-05-02'])
    expect(await days('--actor', 'ann@api-2', ...until)).toEqual(['2020-05-02'])
    expect(await days('--actor', 'an', ...until)).toEqual([])
    expect(await days('--from', '2020-05-02', '--to', '2020-05-02')).toEqual(['2020-05-02'])
    expect(await days('--to', '2020-05-03T00:00:00Z')).toEqual(['2020-05-01', '2020-05-02'])
    expect(await days('--account', 'two', ...until)).toEqual(['2020-05-03'])
    expect(await days('--account', 'two', '--actor', 'ann')).toEqual([])
    expectOneLine(
      await runHere(['audit', 'list', '--from', 'monday'], stores.environment),
      2,
      /from is not a valid date/,
    )
  })

  it('stores neither the change nor the entry when one of them fails', async () => {
    const { postgres } = stores
    await postgres`ALTER TABLE audit_log ADD CONSTRAINT refused CHECK (account_id <> 'refused')`
    await expect(
      createAccount(postgres, { id: 'refused', name: 'x', plan: 'pro', currency: 'USD' }),
    ).rejects.toMatchObject({ code: '23514' })
    await postgres`ALTER TABLE audit_log DROP CONSTRAINT refused`
    const { accounts } = await json('account', 'list')
    expect(accounts.map(({ id }: { id: string }) => id)).not.toContain('refused')
  })
})
