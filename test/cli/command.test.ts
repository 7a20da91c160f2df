// @module-tag all
// @module-tag postgres

import { existsSync } from 'node:fs'
import { readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../schema/scopes.ts'
import { isKeyText } from '../../src/accounts/keyFormat.ts'
import { commit, packageRoot, version } from '../../src/package.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const stores = useTestStores()
const emptyFolder = useFolder()
const tributary = (...words: string[]) => runHere(words, stores.environment)
const json = (...words: string[]) => runJson(words, stores.environment)
const createKey = (...words: string[]) => ['key', 'create', '--account', 'keys', '--name', 'x', ...words]

describe('accounts', () => {
  it('are created with the given id, plan and currency, or with a generated id, pro and USD', async () => {
    expect(await json('account', 'create', '--name', 'Acme Media', '--id', 'acme', '--currency', 'EUR')).toEqual({
      id: 'acme',
      name: 'Acme Media',
      plan: 'pro',
      currency: 'EUR',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    const made = await json('account', 'create', '--name', 'Other', '--plan', 'scale')
    expect(made).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), plan: 'scale', currency: 'USD' })
    const { accounts } = await json('account', 'list')
    expect(accounts.map(({ id }: { id: string }) => id)).toEqual(['acme', made.id])
  })

  it('and keys with control characters in their names are listed with these escaped', async () => {
    const name = 'A\u001b[31m\u009b2J\nB'
    const { id } = await json('account', 'create', '--name', 'plain', '--id', 'escapes')
    await json('key', 'create', '--account', id, '--name', 'plain', '--allow-events')
    await stores.postgres`UPDATE accounts SET name = ${name} WHERE id = ${id}`
    await stores.postgres`UPDATE api_keys SET name = ${name} WHERE account_id = ${id}`
    for (const words of [
      ['account', 'list'],
      ['key', 'list', '--account', id],
    ]) {
      expect((await tributary(...words)).stdout).toContain('A\\u001b[31m\\u009b2J\\u000aB')
      const printed = (await tributary(...words, '--json')).stdout
      expect(printed).not.toMatch(/[^\P{Cc}\n]/u)
      expect(JSON.stringify(JSON.parse(printed))).toContain(JSON.stringify(name))
    }
  })

  it('that have stored no click for a time are listed, the longest first', async () => {
    for (const [id, ageHours] of Object.entries({ long: 49, short: 25, fresh: 1 })) {
      await json('account', 'create', '--name', id, '--id', id)
      await stores.postgres`
        INSERT INTO watermarks (account_id, resource, stored_at, last_row_at)
        SELECT ${id}, 'clicks', clock_timestamp(), clock_timestamp() - ${ageHours} * interval '1 hour'`
    }
    // Without clicks: the only insert has failed.
    await stores.postgres`
      INSERT INTO watermarks (account_id, resource, stored_at, last_row_at)
      VALUES ('acme', 'costs', '2026-01-01Z', '2026-01-01Z'), ('acme', 'clicks', '2026-01-01Z', NULL)`
    const stale = async (time: string) =>
      (await json('account', 'list', '--stale', time)).accounts.map(({ id }: { id: string }) => id)
    expect(await stale('24h')).toEqual(['long', 'short'])
    expect(await stale('2d')).toEqual(['long'])
    expect((await tributary('account', 'list', '--stale', '3d')).stdout).toBe('No stale accounts.\n')
  })

  it('of a folder without a store are none: account list creates no store', async () => {
    expect(await runHere(['account', 'list'], { DATA_DIR: emptyFolder() })).toEqual({
      code: 0,
      stdout: `No store in ${emptyFolder()} (DATA_DIR); create an account with: tributary account create.\n`,
      stderr: '',
    })
    expect(await readdir(emptyFolder())).toEqual([])
    // As without rights to the folder, which this process may have.
    const endless = emptyFolder('endless')
    await symlink(endless, endless)
    const listed = await runHere(['account', 'list'], { DATA_DIR: endless })
    expectOneLine(listed, 1, `error: DATA_DIR=${endless}: ELOOP: `)
  })

  it.each([
    [['create', '--name', 'Second', '--id', 'acme'], /acme already exists/],
    [['create', '--name', 'x', '--plan', 'gold'], /no such plan: gold; plans: free, pro, scale/],
    [['set-plan', '--account', 'missing', '--plan', 'free'], /no such account: missing/],
    [['set-plan', '--account', 'acme', '--plan', 'gold'], /no such plan: gold/],
  ])('are refused: %j', async (words, line) => {
    expectOneLine(await tributary('account', ...words), 1, line)
  })
})

describe('keys', () => {
  beforeAll(() => json('account', 'create', '--name', 'Keys', '--id', 'keys'))

  it('are shown once, with the names of all granted scopes', async () => {
    const scopes = ['--scopes', 'read:reports,read:clicks']
    const created = await json('key', 'create', '--account', 'keys', '--name', 'BI', ...scopes)
    expect(created).toEqual({
      id: expect.any(String),
      key: expect.any(String),
      scopes: ['read:clicks', 'read:reports'],
    })
    expect(isKeyText(created.key)).toBe(true)
    const listed = await json('key', 'list', '--account', 'keys')
    expect(listed.keys).toContainEqual({
      id: created.id,
      accountId: 'keys',
      name: 'BI',
      prefix: created.key.slice(0, 13),
      scopes: ['read:clicks', 'read:reports'],
      view: null,
      createdAt: expect.any(String),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    })
    expect(JSON.stringify(listed)).not.toContain(created.key)
  })

  it('are created with a warning if the plan of the account has no access to the API', async () => {
    await json('account', 'create', '--name', 'Free', '--id', 'without-api', '--plan', 'free')
    const words = ['key', 'create', '--account', 'without-api', '--name', 'x', '--scopes', 'all']
    const { code, stdout, stderr } = await tributary(...words)
    expect([code, stdout]).toEqual([0, expect.stringContaining('Created key')])
    expect(stderr).toMatch(
      /^warning: plan free of account without-api has no access to the API, .+ account set-plan\.\n$/,
    )
  })

  it('accept groups of scopes, and write:events only through --allow-events', async () => {
    const scopesOf = async (...words: string[]) => (await json(...createKey(...words))).scopes
    const reading = scopes.filter((scope) => scope !== 'write:events')
    expect(await scopesOf('--scopes', 'all')).toEqual(reading)
    expect(await scopesOf('--scopes', 'read:*')).toEqual(reading.filter((scope) => scope.startsWith('read:')))
    expect(await scopesOf('--scopes', 'search:*')).toEqual(['search:conversions', 'search:campaigns'])
    expect(await scopesOf('--allow-events')).toEqual(['write:events'])
    expect(await scopesOf('--scopes', 'all', '--allow-events')).toEqual(scopes)
    for (const [words, line] of [
      [['--scopes', 'write:events'], /use --allow-events for write:events/],
      [['--scopes', 'read:nothing'], /no such scope: read:nothing/i],
      [['--scopes', 'constructor'], /no such scope: constructor/i],
      [['--scopes', 'read:clicks,'], /no such scope/i],
      [[], /requires --scopes/],
    ] as const)
      expectOneLine(await tributary(...createKey(...words)), 2, line)
  })

  it('see a part with --filter, which says what they see, and is listed and recorded', async () => {
    const part = ['--scopes', 'read:reports', '--filter', 'sub1=a\\,b,c', '--filter', 'country=us', '--hide', 'cost,ip']
    const created = await json(...createKey(...part))
    const view = { filters: { sub1: ['a,b', 'c'], country: ['US'] }, hidden: ['cost', 'ip'] }
    expect(created.key).toMatch(/^trb_part_/)
    expect(created.filters).toEqual(view.filters)
    expect(created.hidden).toEqual(['cost', 'profit', 'roi', 'cpa', 'cpc', 'costBase', 'ip'])
    const { keys } = await json('key', 'list', '--account', 'keys')
    expect(keys.at(-1)).toMatchObject({ id: created.id, view })
    const { entries } = await json('audit', 'list', '--account', 'keys')
    expect(entries.at(-1).details).toMatchObject({ key: created.id, view })
    const { stderr } = await tributary(...createKey('--scopes', 'all', '--filter', 'sub1=a'))
    expect(stderr).toMatch(/^warning: costs without a value of the filters .+\n$/)
    for (const [words, line] of [
      [['--filter', 'sub1=!a'], /without|no !/],
      [['--filter', 'sub1=a,(not set)'], /no ! and \(not set\)/],
      [['--filter', 'sub1'], /with values that rows have/],
      [['--filter', 'sub1=a', '--filter', 'sub1=b'], /each name once/],
      [['--filter', 'status=approved'], /Names: campaign_id/],
      [['--filter', 'country=Germany'], /must be/],
      [['--filter', 'sub1=a', '--hide', 'profit'], /Hide any of cost, .+ such as profit/],
      [['--hide', 'cost'], /--hide requires --filter/],
      [['--filter', 'sub1=a', '--allow-events'], /cannot send events/],
    ] as const)
      expectOneLine(await tributary(...createKey('--scopes', 'all', ...words)), 2, line)
  })

  it('expire at the time given by --expires', async () => {
    const before = Date.now()
    const { id } = await json(...createKey('--allow-events', '--expires', '90d'))
    const { keys } = await json('key', 'list', '--account', 'keys')
    const expiresAtMs = Date.parse(keys.find((key: { id: string }) => key.id === id).expiresAt)
    expect(expiresAtMs).toBeGreaterThanOrEqual(before + 90 * 86_400_000)
    expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 90 * 86_400_000)
    for (const when of ['90', '0d', '-1d', 'tomorrow', '2020-01-01T00:00:00Z', '2999-01-01', '2999-02-29T00:00:00Z'])
      expectOneLine(await tributary(...createKey('--allow-events', '--expires', when)), 2, /Use days or hours from now/)
  })

  it('keep the time of the first revocation when revoked again', async () => {
    const { id } = await json(...createKey('--allow-events'))
    const { revokedAt } = await json('key', 'revoke', '--id', id)
    expect(Date.parse(revokedAt)).toBeGreaterThan(0)
    expect((await json('key', 'revoke', '--id', id)).revokedAt).toBe(revokedAt)
    for (const [words, line] of [
      [['revoke', '--id', 'missing'], /no such key: missing/],
      [['list', '--account', 'missing'], /no such account: missing/],
      [['create', '--account', 'missing', '--name', 'x', '--allow-events'], /no such account/],
    ] as const)
      expectOneLine(await tributary('key', ...words), 1, line)
  })
})

describe('plans', () => {
  const retained = { retainedClickMonths: 0, retainedEventMonths: 0 }

  it('are listed, and change only in the given limits', async () => {
    const { plans } = await json('plan', 'list')
    expect(plans.map(({ name }: { name: string }) => name)).toEqual(['free', 'pro', 'scale'])
    const words = ['--requests-per-minute', '1200', '--click-allowance', '0']
    const requests = { requestsPerMinute: 1_200, eventsPerMinute: 6_000, identifierEventsPerMinute: 120 }
    const changed = { name: 'pro', hasApi: true, clickAllowance: 0, ...requests, ...retained }
    expect(await json('plan', 'set', 'pro', ...words)).toEqual(changed)
    const unknown = await tributary('plan', 'set', 'gold', '--click-allowance', '5')
    expectOneLine(unknown, 1, /no such plan: gold; plans: pro, free, scale\./)
    expectOneLine(await tributary('plan', 'set', 'pro'), 2, /at least one limit/)
    for (const number of ['0', '-1', '1.5', '1e3', 'x', '2147483648'])
      expectOneLine(await tributary('plan', 'set', 'pro', '--events-per-minute', number), 2, /whole number from 1/)
  })

  const rates = ['--requests-per-minute', '1', '--events-per-minute', '2', '--identifier-events-per-minute', '3']

  it('are created with every limit; the name of a plan is used once', async () => {
    const months = ['--retained-click-months', '4', '--retained-event-months', '5']
    const words = ['plan', 'create', 'trial', '--click-allowance', '50', ...rates, ...months]
    const trial = {
      name: 'trial',
      hasApi: true,
      requestsPerMinute: 1,
      eventsPerMinute: 2,
      identifierEventsPerMinute: 3,
      clickAllowance: 50,
      retainedClickMonths: 4,
      retainedEventMonths: 5,
    }
    expect(await json(...words)).toEqual(trial)
    expect((await json('plan', 'list')).plans).toContainEqual(trial)
    expectOneLine(await tributary(...words), 1, /plan trial already exists; change it with: plan set/)
    expectOneLine(await tributary('plan', 'create', 'none', ...rates), 2, /requires --click-allowance/)
    expectOneLine(await tributary('plan', 'create', ' ', '--click-allowance', '1'), 2, /1 to 200 characters/)
  })

  it('have access to the API from when all limits per minute are given', async () => {
    const partly = await json('plan', 'create', 'partly', '--click-allowance', '5', ...rates.slice(0, 4))
    expect(partly).toMatchObject({ hasApi: false, eventsPerMinute: 2, identifierEventsPerMinute: null })
    expect(await json('plan', 'set', 'partly', ...rates.slice(4))).toMatchObject({ hasApi: false })
    expect(await json('plan', 'set', 'partly', ...rates)).toMatchObject({ hasApi: true, identifierEventsPerMinute: 3 })
    expect(await json('plan', 'set', 'partly', '--click-allowance', '6')).toMatchObject({ hasApi: true })
  })

  it('are deleted, but not while an account has them', async () => {
    await json('plan', 'create', 'leaving', '--click-allowance', '5')
    await json('account', 'create', '--name', 'Leaving', '--id', 'leaving', '--plan', 'leaving')
    const refused = await tributary('plan', 'delete', 'leaving')
    expectOneLine(refused, 1, /plan leaving is the plan of an account .+ account set-plan/)
    await json('account', 'set-plan', '--account', 'leaving', '--plan', 'free')
    expect(await json('plan', 'delete', 'leaving')).toEqual({ name: 'leaving' })
    const missing = await tributary('plan', 'delete', 'leaving')
    expectOneLine(missing, 1, /no such plan: leaving; plans: .*free.*\.$/m)
  })
})

describe('the command', () => {
  it('prints text, or one JSON object with --json', async () => {
    const forPeople = await tributary('plan', 'list')
    expect(forPeople.code).toBe(0)
    expect(forPeople.stdout).toMatch(/^name +hasApi/)
    expect(await json('migrate')).toEqual({ applied: [] })
    const before = await tributary('--json', 'plan', 'list')
    expect(JSON.parse(before.stdout)).toHaveProperty('plans')
  })

  it('exits with 2 and one line on invalid arguments, without opening a database', async () => {
    const nowhere = { DATA_DIR: '/dev/null/nowhere', DATABASE_URL: 'nonsense' }
    for (const [words, line] of [
      [['nonsense'], /unknown command 'nonsense'; see: tributary --help$/m],
      [['key', 'crate'], /Did you mean create/],
      [['account', 'create'], /--name/],
      [['account', 'create', '--name', ' '], /1 to 200 characters/],
      [['account', 'create', '--name', 'x', '--id', 'a b'], /An id has/],
      [['account', 'create', '--name', 'x', '--currency', 'XXY'], /ISO 4217/],
      [['account', 'list', 'extra'], /too many arguments/],
      [['account', 'list', '--stale', '6'], /6h or 2d/],
      [['serve', '--nope'], /unknown option '--nope'/],
      [['plan', 'set'], /missing required argument 'name'/],
    ] as const)
      expectOneLine(await runHere(words, nowhere), 2, line)
  })

  it('shows help with an example for every subcommand', async () => {
    const { code, stdout } = await runHere(['--help'], {})
    expect(code).toBe(0)
    const names = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)].map(([, name]) => name as string)
    expect(names).toEqual(expect.arrayContaining(['serve', 'migrate', 'account', 'plan', 'key', 'audit', 'restore']))
    // A run loads only the command of its first word.
    for (const name of names.filter((one) => one !== 'tributary' && one !== 'help'))
      expect((await runHere([name, '--help'], {})).stdout).toBe((await runHere(['help', name], {})).stdout)
    expect(stdout).toContain('DATA_DIR (default: ./data)')
    for (const words of ['', 'serve', 'migrate', 'account create', 'key create', 'plan set', 'audit list']) {
      const help = await runHere([...words.split(' ').filter(Boolean), '--help'], {})
      expect([help.code, help.stderr]).toEqual([0, ''])
      expect(help.stdout).toMatch(/Examples?:\n {2}\S*.*tributary /)
      expect(help.stdout).toContain('--json')
    }
    expect((await runHere(['help', 'import'], {})).stdout).toContain('clicks\n    id*, clickedAt*, campaignId')
    expect((await runHere(['help', 'import'], {})).stdout).toContain('id of the account (required)')
    expect((await runHere(['key'], {})).code).toBe(2)
  })

  it('prints the version, the commit, Node.js, its zone data and the engines', async () => {
    const { code, stdout, stderr } = await runHere(['--version'], {})
    expect([code, stderr]).toEqual([0, ''])
    const number = '\\d+\\.\\d+\\.\\d+'
    const engines = `embedded ClickHouse: chdb ${number}\nembedded Postgres: @electric-sql/pglite ${number}`
    expect(stdout).toMatch(
      new RegExp(
        `^tributary ${version} \\(commit ${commit}\\)\nNode\\.js ${number}\nzone data ${process.versions.tz}\n${engines}\n$`,
      ),
    )
    if (existsSync(join(packageRoot, '.git'))) expect(commit).toMatch(/^[0-9a-f]{12}(-dirty)?$/)
  })

  it('exits with 1 and one line that names the setting if a database cannot be opened', async () => {
    const dead = 'postgres://user:password@127.0.0.1:1/db'
    const failed = await runHere(['account', 'list'], { ...stores.environment, DATABASE_URL: dead })
    expectOneLine(failed, 1, /DATABASE_URL: Postgres does not respond/)
    expect(failed.stderr).not.toContain('password')
    expectOneLine(await runHere(['account', 'list'], { ...stores.environment, PORT: 'abc' }), 1, /PORT=abc/)
    expectOneLine(await runHere(['plan', 'list'], { DATA_DIR: '/dev/null/nowhere' }), 1, /DATA_DIR/)
  })
})
