// @module-tag all

import { beforeAll, describe, expect, it } from 'vitest'
import { removeOldMonths } from '../../src/cli/retentionJob.ts'
import { acquireLease } from '../../src/stores/postgres/lease.ts'
import { withWriter } from '../../src/writer/openWriter.ts'
import { importContent, rowsOf } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const stores = useTestStores()
const tributary = (...words: string[]) => runHere([...words, '--json'], stores.environment)
const succeed = (...words: string[]) => runJson(words, stores.environment)

beforeAll(async () => {
  for (const id of ['acme', 'other']) {
    await succeed('account', 'create', '--name', id, '--id', id)
    await importContent(stores, id, 'clicks', [
      { id: 'past', clickedAt: '2020-01-05T10:00:00.000Z' },
      { id: 'future', clickedAt: '2090-01-05T10:00:00.000Z' },
    ])
  }
})

const stored = () =>
  rowsOf<{ account: string; id: string }>(stores, 'SELECT account_id AS account, id FROM clicks ORDER BY account, id')
const ofOther = ['future', 'past'].map((id) => ({ account: 'other', id }))

describe('retention', () => {
  it('set changes the setting of one account, which replaces the setting of its plan', async () => {
    await succeed('plan', 'set', 'pro', '--retained-click-months', '1200')
    const left = { clicksFrom: null, eventsFrom: null }
    expect(await succeed('retention', 'set', '--account', 'acme', '--clicks', '1mo')).toEqual({
      accounts: [{ account: 'acme', clicks: '1mo', events: 'off', ...left }],
    })
    await succeed('retention', 'set', '--account', 'acme', '--events', '24mo')
    expect(await succeed('retention', 'list')).toEqual({
      accounts: [
        { account: 'acme', clicks: '1mo', events: '24mo', ...left },
        { account: 'other', clicks: '1200mo', events: 'off', ...left },
      ],
    })
    await succeed('retention', 'set', '--account', 'other', '--clicks', 'off')
    expect(await succeed('retention', 'set', '--account', 'other', '--clicks', 'plan')).toMatchObject({
      accounts: [{ clicks: '1200mo' }],
    })
    await succeed('plan', 'set', 'pro', '--retained-click-months', '0')
    const { entries } = await succeed('audit', 'list', '--account', 'acme')
    expect(entries.slice(-2)).toMatchObject([
      {
        action: 'retention.set',
        details: { retainedClickMonths: 1, before: { retainedClickMonths: null, retainedEventMonths: null } },
      },
      { action: 'retention.set', details: { retainedClickMonths: 1, retainedEventMonths: 24 } },
    ])
  })

  it('run does not wait for the writer of an account that retains all rows', async () => {
    const lease = await acquireLease(stores.postgres, 'writer:other')
    expect(await succeed('retention', 'run', '--account', 'other')).toEqual({ accounts: [] })
    await lease.release()
  })

  // `npm run faults -- "retention run"` kills the command at each statement.
  it('run is completed by the next command after an interruption, and removes what an account no longer retains', async () => {
    const interruption = new AbortController()
    const options = { onMessage: () => {}, signal: interruption.signal }
    const removing = withWriter(stores, 'acme', options, (writer) => removeOldMonths(writer, Date.now()))
    const interrupted = expect(removing).rejects.toThrow('interrupted')
    await expect.poll(async () => (await stores.postgres`SELECT 1 FROM retained_ranges`).length).toBe(2)
    interruption.abort(new Error('interrupted'))
    await interrupted
    expect(await stored()).toEqual([...['future', 'past'].map((id) => ({ account: 'acme', id })), ...ofOther])
    await stores.postgres`UPDATE retained_ranges SET recorded_at = recorded_at - interval '1 minute'`
    const completed = await tributary('retention', 'run')
    expect([completed.code, JSON.parse(completed.stdout), completed.stderr]).toEqual([
      0,
      { accounts: [] },
      'An earlier removal of months of account acme was interrupted and is complete; clicks removed: 1, events removed: 0.\n',
    ])
    expect(await stored()).toEqual([{ account: 'acme', id: 'future' }, ...ofOther])
    const { accounts } = await succeed('retention', 'list', '--account', 'acme')
    expect(accounts[0].clicksFrom).toMatch(/^20\d\d-\d\d-01$/)
    expect(await succeed('verify')).toMatchObject({ differences: [] })
    const { entries } = await succeed('audit', 'list', '--account', 'acme')
    expect(entries.slice(-2).map(({ action }: { action: string }) => action)).toEqual([
      'retention.remove',
      'retention.remove',
    ])
  })

  it.each([
    [['set', '--account', 'acme'], 2, 'retention set requires --clicks or --events.'],
    [['set', '--account', 'acme', '--clicks', '13'], 2, 'Use 1mo to 1200mo, off or plan.'],
    [['set', '--account', 'acme', '--clicks', '0mo'], 2, 'Use 1mo to 1200mo, off or plan.'],
    [['set', '--account', 'missing', '--clicks', '1mo'], 1, 'no such account: missing'],
    [['run', '--account', 'missing'], 1, 'no such account: missing'],
    [['list', '--account', 'missing'], 1, 'no such account: missing'],
  ] as const)('%j is refused', async (words, code, message) => {
    expectOneLine(await tributary('retention', ...words), code, message)
  })
})
