import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '../../../schema/scopes.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { buildApp } from '../../../src/app.ts'
import type { App } from '../../../src/http/context.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { readSettings } from '../../../src/settings.ts'
import { post } from '../../api/events/send.ts'
import { runHere } from '../../cli/runCommand.ts'
import { importContent, makeAccount } from '../../import/runImport.ts'
import { changeTables } from '../../kit/rows.ts'
import { clickTables, conversionTables } from '../../writer/killedImport.ts'
import { Acknowledged, type Change, campaignsOfClicks, changes } from './changes.ts'
import { compareWith } from './comparison.ts'
import type { CrashStores } from './crashStores.ts'

const nowMs = Date.UTC(2024, 0, 1)
/** Attempts of a client to import rows when imports fail. */
const importsMax = 5
const eventDeadlineMs = 60_000
const tables = [...new Set([...clickTables, ...conversionTables]), 'pixel_events']

/** An account that is written while processes are killed, and the rows that were acknowledged to its clients. */
export class CrashAccount {
  readonly id: string
  readonly key: string
  readonly #stores: CrashStores
  readonly #app: App
  readonly #acknowledged: Acknowledged
  /** Imports with wrong counts. */
  readonly #faults: string[] = []

  /** Creates an account and the campaigns of its clicks. */
  static async open(stores: CrashStores): Promise<CrashAccount> {
    const id = await makeAccount(stores.stores)
    const created = await createKey(stores.stores.postgres, { accountId: id, name: 'crash', scopes, expiresAt: null })
    if (!created) throw new Error(`The account ${id} is missing.`)
    const account = new CrashAccount(stores, id, created.key, await appOn(stores), new Acknowledged())
    await account.import(changes.campaigns(campaignsOfClicks))
    return account
  }

  private constructor(stores: CrashStores, id: string, key: string, app: App, acknowledged: Acknowledged) {
    this.#stores = stores
    this.id = id
    this.key = key
    this.#app = app
    this.#acknowledged = acknowledged
  }

  /** @returns the same account with its acknowledged rows, on stores that were opened again */
  async moveTo(stores: CrashStores): Promise<CrashAccount> {
    return new CrashAccount(stores, this.id, this.key, await appOn(stores), this.#acknowledged)
  }

  async close(): Promise<void> {
    await this.#app.close()
  }

  /**
   * Imports rows, and retries until an import succeeds.
   * @param isFirst whether no other import has written these rows, so that the counts are known
   * @returns the number of rows counted as inserted or updated
   */
  async import({ resource, rows, counts, acknowledge }: Change, isFirst = true): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { inserted, updated, duplicates, rejected } = await importContent(
          this.#stores.stores,
          this.id,
          resource,
          rows,
          { nowMs },
        )
        acknowledge(this.#acknowledged)
        const counted = JSON.stringify({ inserted, updated, duplicates, rejected })
        // A retry may find rows of the failed attempt, so only the counts of the first attempt are known.
        if (counts && isFirst && attempt === 1) {
          const expected = JSON.stringify({ inserted: 0, updated: 0, duplicates: 0, rejected: 0, ...counts })
          if (counted !== expected) this.#faults.push(`${JSON.stringify(rows[0])} was counted as ${counted}`)
        }
        return inserted + updated
      } catch (error) {
        if (attempt === importsMax) throw error
      }
    }
  }

  /** Sends an event of a stored click, and retries until the response is 200. */
  async sendEvent(click: number, id: string): Promise<void> {
    const body = { click_id: `click-${click}`, event_name: 'paid', event_id: id, value: 1 }
    for (const deadlineMs = performance.now() + eventDeadlineMs; ; await sleep(50)) {
      const { statusCode, body: text } = await post(this.#app, this.key, body)
      if (statusCode === 200) break
      if (statusCode !== 503 || performance.now() > deadlineMs) throw new Error(`${id}: ${statusCode} ${text}`)
    }
    this.#acknowledged.serverEvents.add(id)
  }

  /**
   * Compares stored with acknowledged rows, and runs `verify` to compare sums with rows: before and after all parts are
   * merged.
   * @returns the differences, empty when there are none
   */
  async differences(): Promise<string[]> {
    const found = [...this.#faults, ...(await this.#compare())]
    for (const name of tables) await changeTables(this.#stores.stores, `OPTIMIZE TABLE ${name} FINAL`)
    return [...found, ...(await this.#compare()).map((line) => `merged: ${line}`)]
  }

  async #compare(): Promise<string[]> {
    const found = await compareWith(this.#acknowledged, this.#stores.stores, this.id)
    const commandLine = ['verify', '--account', this.id, '--json']
    const { code, stdout, stderr } = await runHere(commandLine, this.#stores.environment)
    if (code !== 0) found.push(`verify exited with ${code}: ${stdout.trim()} ${stderr.trim()}`)
    return found
  }
}

/** Runs with an account that is closed afterwards. */
export async function withCrashAccount<Result>(
  stores: CrashStores,
  run: (account: CrashAccount) => Promise<Result>,
): Promise<Result> {
  const account = await CrashAccount.open(stores)
  try {
    return await run(account)
  } finally {
    await account.close()
  }
}

function appOn({ environment, stores }: CrashStores): Promise<App> {
  return buildApp({
    settings: readSettings(environment),
    stores,
    responseCache: openResponseCache(),
    now: () => Date.now(),
  })
}
