// @module-tag all

import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { identifierHash } from '../../src/writer/erasure/erasures.ts'
import { postgresRowsOf } from '../faults/crashes/accountState.ts'
import { importContent } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { storedRowsOf } from '../writer/retention/retainedAccount.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const stores = useTestStores()
const json = (...words: string[]) => runJson(words, stores.environment)
const ofAcme = ['--account', 'acme']
const listFile = () => join(stores.settings.DATA_DIR, 'erasures.json')

beforeAll(async () => {
  for (const id of ['acme', 'other']) {
    await json('account', 'create', '--name', id, '--id', id)
    await importContent(stores, id, 'clicks', [
      { id: 'c1', clickedAt: '2020-01-05T10:00:00Z', visitorId: 'v' },
      { id: 'c2', clickedAt: '2020-02-05T10:00:00Z', visitorId: 'v' },
      { id: 'c3', clickedAt: '2020-02-29T23:59:59.999Z', visitorId: 'w' },
      { id: 'c4', clickedAt: '2090-01-05T10:00:00Z', visitorId: 'w' },
    ])
    const sale = { id: 's1', clickId: 'c1', convertedAt: '2020-03-01T00:00:00Z', revenueBase: 1 }
    // Two versions of one row.
    await importContent(stores, id, 'conversions', [{ ...sale, status: 'pending' }])
    await importContent(stores, id, 'conversions', [{ ...sale, status: 'approved', updatedAt: '2020-04-01T00:00:00Z' }])
    for (const [cost, day] of [
      [1, 1],
      [2, 2],
    ] as const)
      await importContent(stores, id, 'costs', [
        { id: 'k', spentAt: '2020-01-06T00:00:00Z', cost, updatedAt: `2020-02-0${day}T00:00:00Z` },
      ])
    const event = { eventName: 'signup', occurredAt: '2020-02-06T00:00:00Z', receivedAt: '2020-02-06T00:00:00Z' }
    await importContent(stores, id, 'pixel-events', [
      { id: 'e1', clickId: 'c2', visitorId: 'v', ...event },
      { id: 'e2', visitorId: 'w', ...event },
    ])
  }
  const key = randomUUID()
  const erasure = {
    kind: 'visitor',
    key,
    hash: identifierHash(key, 'visitor', 'v'),
    erasedAt: new Date().toISOString(),
  }
  await writeFile(listFile(), JSON.stringify({ erasures: [{ account: 'acme', ...erasure }] }))
})

const month = (name: string, counts: object) => ({
  account: 'acme',
  month: name,
  ...{ clicks: 0, conversions: 0, costs: 0, events: 0 },
  ...counts,
})
const personal = [
  month('2020-01', { clicks: 1 }),
  month('2020-02', { clicks: 1, events: 1 }),
  month('2020-03', { conversions: 1 }),
]
const old = (events: number) => [month('2020-01', { clicks: 1, costs: 1 }), month('2020-02', { clicks: 2, events })]
const all = [
  month('2020-01', { clicks: 1, costs: 1 }),
  month('2020-02', { clicks: 2, events: 2 }),
  month('2020-03', { conversions: 1 }),
  month('2090-01', { clicks: 1 }),
]
const commands = [
  [['erase', ...ofAcme, '--visitor', 'v'], personal],
  [['erase', ...ofAcme, '--click', 'c2'], [month('2020-02', { clicks: 1, events: 1 })]],
  [['erase', 'apply', 'LIST'], personal],
  [['retention', 'set', ...ofAcme, '--clicks', '12mo'], old(0)],
  [['retention', 'set', ...ofAcme, '--clicks', '12mo', '--events', '12mo'], old(2)],
  [['account', 'delete', ...ofAcme], all],
] as const

/** The file of erasures has another path in each run. */
const written = (word: string) => (word === 'LIST' ? listFile() : word)

const stateOf = async (id: string) => [await storedRowsOf(stores, id), await postgresRowsOf(stores.postgres, id)]
/** Runs a command on a terminal. @param answer what the person types; then the input ends */
const onTerminal = (words: readonly string[], answer: string) =>
  runHere(words, stores.environment, Object.assign(new PassThrough().end(answer), { isTTY: true }))

describe('a command that removes rows', () => {
  it.each(commands)('counts them by month with --dry-run, and changes nothing: %j', async (words, months) => {
    const before = await stateOf('acme')
    expect(await json(...words.map(written), '--dry-run')).toEqual({ months })
    expect(await stateOf('acme')).toEqual(before)
  })

  it.each(commands)(
    'changes nothing on a terminal without the answer, also at the end of the input: %j',
    async (words, months) => {
      const before = await stateOf('acme')
      for (const answer of ['', 'no\n', 'YES\n', 'other\n']) {
        const { code, stdout, stderr } = await onTerminal(words.map(written), answer)
        expect([code, stdout]).toEqual([1, ''])
        expect(stderr.split('\n')).toHaveLength(months.length + 4)
        expect(stderr).toMatch(
          /\nThis cannot be undone\. To continue, type (yes|acme):\nerror: nothing was changed\.\n$/,
        )
      }
      expect(await stateOf('acme')).toEqual(before)
    },
  )

  it('asks for the id of an account to delete, and needs --confirm without a terminal', async () => {
    expect((await onTerminal(['account', 'delete', ...ofAcme], 'yes\n')).code).toBe(1)
    const words = ['account', 'delete', ...ofAcme]
    expectOneLine(await runHere(words, stores.environment), 2, 'account delete requires --confirm.')
    const missing = ['account', 'delete', '--account', 'missing', '--dry-run']
    expectOneLine(await runHere(missing, stores.environment), 1, /no such account: missing/)
  })

  it('removes what it has counted after the answer, or with --confirm, and does not ask without rows', async () => {
    const other = await stateOf('other')
    const erased = await onTerminal(['erase', ...ofAcme, '--visitor', 'v', '--json'], 'yes\n')
    expect([erased.code, JSON.parse(erased.stdout)]).toEqual([
      0,
      { account: 'acme', clicks: 2, conversions: 1, events: 1 },
    ])
    expect(await json('erase', 'apply', listFile(), '--dry-run')).toEqual({ months: [] })
    const set = await onTerminal(['retention', 'set', ...ofAcme, '--clicks', '12mo', '--confirm'], '')
    expect([set.code, set.stderr]).toEqual([0, ''])
    expect(await json('retention', 'run', '--dry-run')).toEqual({ months: old(0) })
    const removed = await onTerminal(['retention', 'run', '--json'], 'yes\n')
    expect([removed.code, JSON.parse(removed.stdout).accounts]).toMatchObject([
      0,
      [{ account: 'acme', clicks: 3, events: 0 }],
    ])
    expect((await onTerminal(['retention', 'run'], '')).code).toBe(0)
    expect(await stateOf('other')).toEqual(other)
  })
})
