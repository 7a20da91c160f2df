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
/** How often a client imports rows again after an import that failed. */
const importsMax = 5
const eventDeadlineMs = 60_000
const tables = [...new Set([...clickTables, ...conversionTables]), 'pixel_events']

/** An account that is written while processes die, and what was acknowledged to its clients. */
export class CrashAccount {
  readonly id: string
  readonly key: string
  readonly #stores: CrashStores
  readonly #app: App
  readonly #acknowledged: Acknowledged
  /** Counts that were wrong in themselves. */
  readonly #faults: string[] = []

  /** Makes an account, and the campaigns that its clicks belong to. */
  static async open(stores: CrashStores): Promise<CrashAccount> {
    const id = await makeAccount(stores.stores)
    const created = await createKey(stores.stores.postgres, { accountId: id, name: 'crash', scopes, expiresAt: null })
    if (!created) throw new Error(`no account ${id}`)
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

  /** The same account, with what was acknowledged, on the same stores opened again. */
  async moveTo(stores: CrashStores): Promise<CrashAccount> {
    return new CrashAccount(stores, this.id, this.key, await appOn(stores), this.#acknowledged)
  }

  async close(): Promise<void> {
    await this.#app.close()
  }

  /**
   * Imports rows, as often as it takes until an import succeeds.
   * @param isFirst whether nothing else has written these rows, so that its counts are known
   * @returns how many rows it counts as inserted or updated
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
        // An import after one that failed finds rows of that one.
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

  /** Sends an event of a stored click until it is answered with 200. */
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
   * Compares the stores with what was acknowledged, and by `verify` sums with rows: first as the tables are, then with
   * all parts merged.
   * @returns what differs, empty when nothing does
   */
  async differences(): Promise<string[]> {
    const found = [...this.#faults, ...(await this.#compare())]
    for (const name of tables) await changeTables(this.#stores.stores, `OPTIMIZE TABLE ${name} FINAL`)
    return [...found, ...(await this.#compare()).map((line) => `merged: ${line}`)]
  }

  async #compare(): Promise<string[]> {
    const found = await compareWith(this.#acknowledged, this.#stores.stores, this.id)
    const words = ['verify', '--account', this.id, '--json']
    const { code, stdout, stderr } = await runHere(words, this.#stores.environment)
    if (code !== 0) found.push(`verify ended with ${code}: ${stdout.trim()} ${stderr.trim()}`)
    return found
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
