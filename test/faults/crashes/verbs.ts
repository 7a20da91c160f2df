import { createHash, randomUUID } from 'node:crypto'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { hashOfKey } from '../../../src/accounts/keyFormat.ts'
import { setRetention } from '../../../src/accounts/retention.ts'
import { fileOf } from '../../../src/export/accountFolder.ts'
import { identifierHash } from '../../../src/writer/erasure/erasures.ts'
import { type Ended, runHere } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { makeAccountWithKey } from '../../kit/accounts.ts'
import { changeTables } from '../../kit/rows.ts'
import { rows, storeRetained } from '../../writer/retention/retainedAccount.ts'
import { stateOf } from './accountState.ts'
import type { CrashStores } from './crashStores.ts'

export interface Verb {
  /** Creates an account that the subcommand will change. @returns the words of the command line */
  prepare(stores: CrashStores, account: string): Promise<string[]>
  /** Message of a repetition that fails because an earlier run completed the change. */
  isDone?: RegExp
  /** Output that shows the result: the command is not run again after it. */
  isShown?: RegExp
  /** Statements at which it is killed; by default those that change something. */
  isMoment?(statement: string): boolean
  /** What the databases have beyond the account, and files. @param last the last run @returns lines without ids */
  stateOf?(stores: CrashStores, account: string, last: Ended): Promise<string[]>
}

/** The account that `account import` copies; it is left as it is. */
const exportedAccount = 'exported'

/** @param create makes an account that the subcommand changes @param wordsOf of the command line, after that */
const after = <Made>(
  create: (stores: CrashStores, account: string) => Promise<Made>,
  wordsOf: (account: string, made: Made) => string[],
) => ({
  prepare: async (stores: CrashStores, account: string) => wordsOf(account, await create(stores, account)),
})

export const verbs = {
  import: {
    async prepare(stores, account) {
      await createWithKey(stores, account)
      // Conversions first, so that the clicks change them.
      for (const resource of ['campaigns', 'conversions', 'pixel-events'] as const)
        await importContent(stores.stores, account, resource, rows[resource])
      const file = join(await folderOf(stores), `${account}.clicks.ndjson`)
      await writeFile(file, rows.clicks.map((row) => `${JSON.stringify(row)}\n`).join(''))
      return ['import', 'clicks', file, '--account', account]
    },
  },
  'retention run': {
    async prepare(stores, account) {
      // Servers have read the record of the removal at once, so that the command does not wait 7 s.
      await stores.stores.postgres`
        ALTER TABLE retained_ranges ALTER recorded_at SET DEFAULT clock_timestamp() - interval '1 minute'`
      await createWithRows(stores, account)
      await setRetention(stores.stores.postgres, account, { clickMonths: 1, eventMonths: 1 })
      return ['retention', 'run', '--account', account]
    },
  },
  erase: after(createWithRows, (account) => ['erase', '--account', account, '--visitor', 'visitor-c1']),
  'account delete': {
    async prepare(stores, account) {
      // Its keys end at once, so that the command does not wait 75 s.
      await stores.stores.postgres`
        ALTER TABLE account_deletions ALTER began_at SET DEFAULT clock_timestamp() - interval '2 minutes'`
      await createWithRows(stores, account)
      return ['account', 'delete', '--account', account, '--confirm', account]
    },
  },
  'erase apply': {
    async prepare(stores, account) {
      const accounts = [account, secondOf(account)]
      await createWithRows(stores, account)
      await createWithKey(stores, secondOf(account))
      await importContent(stores.stores, secondOf(account), 'clicks', rows.clicks)
      const key = randomUUID()
      const erasures = accounts.flatMap((one) =>
        [['visitor', 'visitor-c1'] as const, ['click', 'c4'] as const].map(([kind, id]) => ({
          // Events of that time are no longer in flight, so that the command does not wait for them.
          account: one,
          kind,
          key,
          hash: identifierHash(key, kind, id),
          erasedAt: '2026-11-01T00:00:00.000Z',
        })),
      )
      const file = join(await folderOf(stores), `${account}.erasures.json`)
      await writeFile(file, JSON.stringify({ erasures }))
      return ['erase', 'apply', file]
    },
    stateOf: async ({ stores }, account) =>
      (await stateOf(stores, secondOf(account))).map((line) => `second account: ${line}`),
  },
  'account export': {
    async prepare(stores, account) {
      await createWithRows(stores, account)
      const output = join(await folderOf(stores), account)
      // As an interrupted export leaves it.
      await mkdir(`${output}.incomplete/old`, { recursive: true })
      await writeFile(join(`${output}.incomplete`, fileOf('clicks')), 'old')
      return ['account', 'export', '--account', account, '--output', output]
    },
    isDone: /already exists; choose another name/,
    isMoment: () => true,
    async stateOf(stores, account) {
      const folder = await folderOf(stores)
      const again = join(folder, `again-${account}`)
      await runAll(stores, [['account', 'export', '--account', account, '--output', again]])
      const files = await readdir(again)
      const compared = files.map(async (file) => {
        const [first, second] = await Promise.all(
          [account, `again-${account}`].map((of) => readFile(join(folder, of, file))),
        )
        return `${file} ${first && second?.equals(first) ? 'is' : 'is not'} the same as in another export`
      })
      const names = (await readdir(folder)).filter((name) => name === account || name.startsWith(`${account}.`))
      return [
        ...(await Promise.all(compared)),
        `files: ${await readdir(join(folder, account))}`,
        `folders: ${names.length}`,
      ]
    },
  },
  'account import': {
    async prepare(stores, account) {
      return ['account', 'import', await copyOfExport(stores, account)]
    },
    isDone: /no import of this folder was interrupted/,
  },
  'verify --repair': {
    async prepare(stores, account) {
      await createWithRows(stores, account)
      await damage(stores, account)
      return ['verify', '--account', account, '--repair']
    },
  },
  'account create': {
    prepare: async (_stores, account) => ['account', 'create', '--name', 'New', '--id', account],
    isDone: /already exists/,
  },
  'account set-plan': after(createWithKey, (id) => ['account', 'set-plan', '--account', id, '--plan', 'pro']),
  'plan set': {
    async prepare({ stores: { postgres } }, account) {
      await postgres`INSERT INTO plans (name, has_api, click_allowance) VALUES (${account}, true, 1000)`
      return ['plan', 'set', account, '--requests-per-minute', '7', '--click-allowance', '2000']
    },
    async stateOf({ stores: { postgres } }, account) {
      const rows = await postgres`
        SELECT to_jsonb(plans) || '{"name": ""}' AS plan,
          (SELECT count(*)::integer FROM audit_log WHERE action = 'plan.set' AND details ->> 'name' = ${account}) AS entries
        FROM plans WHERE name = ${account}`
      return rows.map((row) => JSON.stringify(row))
    },
  },
  'key create': {
    async prepare({ stores: { postgres } }, account) {
      await createAccount(postgres, { id: account, name: account, plan: 'scale', currency: 'USD' })
      return ['key', 'create', '--account', account, '--name', 'backend', '--scopes', 'all']
    },
    isShown: /\btrb_live_\w+\n$/,
    async stateOf({ stores: { postgres } }, account, { stdout }) {
      const [shown = ''] = /\btrb_live_\w+/.exec(stdout) ?? []
      const [row] = await postgres`
        SELECT 1 FROM api_keys WHERE account_id = ${account} AND hash = decode(${hashOfKey(shown)}, 'hex')`
      return [`the shown key is ${row ? '' : 'not '}stored`]
    },
  },
  'key rotate': {
    ...after(createWithKey, (_account, id) => ['key', 'rotate', '--grace', '24h', '--id', id]),
    isDone: /has already been replaced by key/,
  },
  'key revoke': after(createWithKey, (_account, id) => ['key', 'revoke', '--id', id]),
  'retention set': after(createWithKey, (account) => ['retention', 'set', '--account', account, '--clicks', '13mo']),
} as const satisfies Record<string, Verb>

export type VerbName = keyof typeof verbs

/** An account with rows of 2025, which every retention removes, and of 2090, which none does. */
async function createWithRows(stores: CrashStores, account: string): Promise<void> {
  await createWithKey(stores, account)
  await storeRetained(stores.stores, account)
  const later = '2090-01-10T10:00:00.000Z'
  const [click] = rows.clicks
  const [event] = rows['pixel-events']
  await importContent(stores.stores, account, 'clicks', [{ ...click, id: 'c-later', clickedAt: later }])
  await importContent(stores.stores, account, 'pixel-events', [
    { ...event, id: 'e-later', clickId: 'c-later', occurredAt: later, receivedAt: later },
  ])
}

async function createWithKey({ stores }: CrashStores, account: string): Promise<string> {
  return (await makeAccountWithKey(stores, account, ['read:clicks'])).id
}

function secondOf(account: string): string {
  return `${account}-second`
}

async function folderOf({ environment }: CrashStores): Promise<string> {
  const folder = join(`${environment.DATA_DIR}`, 'exports')
  await mkdir(folder, { recursive: true })
  return folder
}

async function runAll({ environment }: CrashStores, commands: readonly (readonly string[])[]): Promise<void> {
  for (const words of commands) {
    const { code, stderr } = await runHere(words, environment)
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  }
}

/** Exports an account with removed months and an erased visitor. @returns a copy of the folder for an account with another id */
async function copyOfExport(stores: CrashStores, account: string): Promise<string> {
  const folder = await folderOf(stores)
  const exported = join(folder, exportedAccount)
  const manifestOf = (of: string) => join(of, 'account.json')
  const [isPresent] = await stores.stores.postgres`SELECT FROM accounts WHERE id = ${exportedAccount}`
  if (!isPresent) {
    await runAll(stores, [
      await verbs.erase.prepare(stores, exportedAccount),
      ['retention', 'set', '--account', exportedAccount, '--clicks', '1mo'],
      ['retention', 'run', '--account', exportedAccount],
      ['account', 'export', '--account', exportedAccount, '--output', exported],
    ])
  }
  const copy = join(folder, account)
  await cp(exported, copy, { recursive: true })
  const manifest = JSON.parse(await readFile(manifestOf(exported), 'utf8'))
  manifest.account.id = account
  for (const key of manifest.keys) {
    key.id = randomUUID()
    key.hash = createHash('sha256').update(key.id).digest('hex')
  }
  await writeFile(manifestOf(copy), JSON.stringify(manifest))
  return copy
}

/** One difference of each kind that `verify --repair` repairs without other rows: sums, index, ids stored twice, attribution. */
async function damage({ stores }: CrashStores, account: string): Promise<void> {
  const { client } = stores.clickhouse
  const ofAccount = `account_id = '${account}'`
  await client.command({
    query: `INSERT INTO sums_by_day (account_id, dimension, day, value, clicks) VALUES ('${account}', 'country', '2025-01-10', 'FR', 1)`,
  })
  await client.command({
    query: `INSERT INTO clicks SELECT * REPLACE (clicked_at + INTERVAL 1 DAY AS clicked_at, stored_at + INTERVAL 1 MINUTE AS stored_at)
      FROM clicks WHERE ${ofAccount} AND id = 'c3'`,
  })
  await client.command({
    query: `INSERT INTO conversions SELECT * REPLACE (version + 1 AS version, converted_at + INTERVAL 40 DAY AS converted_at)
      FROM conversions FINAL WHERE ${ofAccount} AND id = 'v2'`,
  })
  await changeTables(stores, `DELETE FROM click_index WHERE ${ofAccount} AND id = 'c4'`)
}
