import { createHash, randomUUID } from 'node:crypto'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { setRetention } from '../../../src/accounts/retention.ts'
import { runHere } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { changeTables } from '../../kit/rows.ts'
import { importRetained, rows } from '../../writer/retention/retainedAccount.ts'
import type { CrashStores } from './crashStores.ts'

/** A subcommand that changes an account. */
export interface Verb {
  /** Creates an account that the subcommand will change. @returns the words of the command line */
  prepare(stores: CrashStores, account: string): Promise<string[]>
  /** Message of a repetition that fails because an earlier run completed the change. */
  isDone?: RegExp
}

/** The account that `account import` copies; it is left as it is. */
const exportedAccount = 'exported'

export const verbs = {
  'retention run': {
    async prepare(stores, account) {
      await createWithRows(stores, account)
      await setRetention(stores.stores.postgres, account, { clickMonths: 1, eventMonths: 1 })
      return ['retention', 'run', '--account', account]
    },
  },
  erase: {
    async prepare(stores, account) {
      await createWithRows(stores, account)
      return ['erase', '--account', account, '--visitor', 'visitor-c1']
    },
  },
  'account delete': {
    async prepare(stores, account) {
      // Its keys end at once, so that the command does not wait 75 s.
      await stores.stores.postgres`
        ALTER TABLE account_deletions ALTER began_at SET DEFAULT clock_timestamp() - interval '2 minutes'`
      await createWithRows(stores, account)
      return ['account', 'delete', '--account', account, '--confirm', account]
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
  'key rotate': {
    async prepare(stores, account) {
      return ['key', 'rotate', '--grace', '24h', '--id', await createWithKey(stores, account)]
    },
    isDone: /has already been replaced by key/,
  },
  'key revoke': {
    async prepare(stores, account) {
      return ['key', 'revoke', '--id', await createWithKey(stores, account)]
    },
  },
  'retention set': {
    async prepare(stores, account) {
      await createWithKey(stores, account)
      return ['retention', 'set', '--account', account, '--clicks', '13mo']
    },
  },
} as const satisfies Record<string, Verb>

export type VerbName = keyof typeof verbs

/** An account with rows of 2025, which every retention removes, and of 2090, which none does. */
async function createWithRows(stores: CrashStores, account: string): Promise<void> {
  await createWithKey(stores, account)
  await importRetained(stores.stores, account)
  const later = '2090-01-10T10:00:00.000Z'
  const [click] = rows.clicks
  const [event] = rows['pixel-events']
  await importContent(stores.stores, account, 'clicks', [{ ...click, id: 'c-later', clickedAt: later }])
  await importContent(stores.stores, account, 'pixel-events', [
    { ...event, id: 'e-later', clickId: 'c-later', occurredAt: later, receivedAt: later },
  ])
}

/** @returns the id of its key */
async function createWithKey({ stores: { postgres } }: CrashStores, account: string): Promise<string> {
  await createAccount(postgres, { id: account, name: account, plan: 'scale', currency: 'USD' })
  const scopes = ['read:clicks'] as const
  const created = await createKey(postgres, { accountId: account, name: 'key', scopes, expiresAt: null })
  if (!created) throw new Error(`The account ${account} is missing.`)
  return created.row.id
}

/** Exports an account with removed months and an erased visitor. @returns a copy of the folder for an account with another id */
async function copyOfExport(stores: CrashStores, account: string): Promise<string> {
  const { environment } = stores
  const folder = join(`${environment.DATA_DIR}`, 'exports')
  await mkdir(folder, { recursive: true })
  const exported = join(folder, exportedAccount)
  const manifestOf = (of: string) => join(of, 'account.json')
  const [isPresent] = await stores.stores.postgres`SELECT FROM accounts WHERE id = ${exportedAccount}`
  if (!isPresent) {
    const commands = [
      await verbs.erase.prepare(stores, exportedAccount),
      ['retention', 'set', '--account', exportedAccount, '--clicks', '1mo'],
      ['retention', 'run', '--account', exportedAccount],
      ['account', 'export', '--account', exportedAccount, '--output', exported],
    ]
    for (const words of commands) {
      const { code, stderr } = await runHere(words, environment)
      if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
    }
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
