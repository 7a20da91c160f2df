import { setTimeout as sleep } from 'node:timers/promises'
import { buildApp } from '../../../src/app.ts'
import type { App } from '../../../src/http/context.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import type { Stores } from '../../../src/stores/open.ts'
import { runHere } from '../../cli/runCommand.ts'
import { importContent, makeAccount, rowsOf } from '../../import/runImport.ts'
import { makeKey } from '../../kit/accounts.ts'
import { changeTables } from '../../kit/rows.ts'
import { clickTables, conversionTables, costTables } from '../../writer/killedImport.ts'
import { differing } from './accountState.ts'
import { type ChangeName, campaignsOfClicks, changes, revenue, spent } from './changes.ts'
import type { CrashStores } from './crashStores.ts'

const nowMs = Date.UTC(2024, 0, 1)
const eventDeadlineMs = 60_000
const tables = [...new Set([...clickTables, ...conversionTables, ...costTables]), 'pixel_events']

export type CrashAccount = Awaited<ReturnType<typeof openCrashAccount>>

/** The rows that must be stored: the rows of successful imports by number, and the events with a 200 response by id. */
type Acknowledged = Record<ChangeName, Set<number>> & { events: Set<string> }

const nothingAcknowledged = () =>
  Object.fromEntries([...Object.keys(changes), 'events'].map((name) => [name, new Set()])) as Acknowledged

/**
 * Opens an account that is written while processes are killed, and that remembers which rows were acknowledged to its clients.
 * @param kept the account on stores that were closed, or on another node; by default a new one, with the campaigns of its clicks
 */
export async function openCrashAccount(
  opened: Pick<CrashStores, 'stores' | 'environment'>,
  kept?: { id: string; key: string; acknowledged: Acknowledged },
) {
  const { stores, environment } = opened
  const id = kept?.id ?? (await makeAccount(stores))
  const key = kept?.key ?? (await makeKey(stores, id)).key
  const acknowledged = kept?.acknowledged ?? nothingAcknowledged()
  const faults: string[] = []
  const app = await buildApp({
    settings: readSettings(environment),
    stores,
    responseCache: openResponseCache({ ttlMs: 0 }),
    now: () => Date.now(),
  })

  async function compare(): Promise<string[]> {
    const found = await compareWith(acknowledged, stores, id)
    const { code, stdout, stderr } = await runHere(['verify', '--account', id, '--json'], environment)
    if (code !== 0) found.push(`verify exited with ${code}: ${stdout.trim()} ${stderr.trim()}`)
    return found
  }

  const account = {
    id,
    key,
    app,
    acknowledged,

    /**
     * Imports rows. The import itself waits for a store that restarts.
     * @param isFirst whether no other import has written these rows, so that the counts are known
     * @returns the number of rows counted as inserted or updated
     */
    async import(change: ChangeName, numbers: readonly number[], isFirst = true): Promise<number> {
      const { resource, counted, rowOf } = changes[change]
      const rows = numbers.map((number): object => rowOf(number))
      const done = await importContent(stores, id, resource, rows, { nowMs })
      for (const number of numbers) acknowledged[change].add(number)
      const isExpected = !counted || (done[counted] === rows.length && done.read === rows.length)
      if (isFirst && !isExpected) faults.push(`${change} ${numbers} were counted as ${JSON.stringify(done)}`)
      return done.inserted + done.updated
    },

    /** Sends events of a stored click, several as a batch, and retries until the response is 200. @param apps servers of the attempts, in turn */
    async sendEvents(click: number, ids: readonly string[], apps: readonly App[] = [app]): Promise<void> {
      const events = ids.map((id) => ({ click_id: `click-${click}`, event_name: 'paid', event_id: id, value: 1 }))
      const [path, payload] = ids.length > 1 ? ['/batch', { events }] : ['', { ...events[0] }]
      const headers = { authorization: `ApiKey ${key}` }
      const deadlineMs = performance.now() + eventDeadlineMs
      for (let attempt = 0; ; attempt += 1) {
        const server = apps[attempt % apps.length] ?? app
        const response = await server.inject({ method: 'POST', url: `/api/v1/events${path}`, headers, payload })
        const { statusCode, body } = response
        if (statusCode === 200 && !(response.json().rejected > 0)) break
        if (statusCode !== 503 || performance.now() > deadlineMs) throw new Error(`${ids}: ${statusCode} ${body}`)
        await sleep(50)
      }
      for (const id of ids) acknowledged.events.add(id)
    },

    /**
     * Compares stored with acknowledged rows, and runs `verify` to compare sums and indexes with rows: before and after all
     * parts are merged.
     * @returns the differences, empty when there are none
     */
    async differences(): Promise<string[]> {
      const found = [...faults, ...(await compare())]
      for (const name of tables) await changeTables(stores, `OPTIMIZE TABLE ${name} FINAL`)
      return [...found, ...(await compare()).map((line) => `merged: ${line}`)]
    },

    async close(): Promise<void> {
      await app.close()
    },
  }
  if (!kept) await account.import('campaigns', campaignsOfClicks)
  return account
}

/** Compares the rows of an account with the acknowledged ones. @returns a line per row that is missing, wrong or stored twice */
async function compareWith(acknowledged: Acknowledged, stores: Stores, accountId: string): Promise<string[]> {
  const { clicks, conversions, approvals, costs, corrections, pixelEvents, campaigns } = acknowledged
  const condition = `account_id = '${accountId}'`
  const compare = async (what: string, sql: string, expected: readonly string[]) => {
    const stored = await rowsOf<object>(stores, sql)
    return differing(
      what,
      stored.map((row) => Object.values(row).join(' ')),
      expected,
    )
  }
  const storedCampaigns = await stores.postgres<{ id: string }[]>`
    SELECT id FROM campaigns WHERE account_id = ${accountId}`
  const found = await Promise.all([
    // Not FINAL: a click that is stored twice makes sums wrong after a merge.
    compare(
      'clicks',
      `SELECT id, count() FROM clicks WHERE ${condition} GROUP BY id`,
      [...clicks].map((number) => `click-${number} 1`),
    ),
    compare(
      'conversions',
      `SELECT id, status, toFloat64(revenue_base), click_at IS NOT NULL, count()
      FROM conversions FINAL WHERE ${condition} GROUP BY ALL`,
      [...conversions].map((number) => {
        const status = approvals.has(number) ? 'approved' : 'pending'
        return `conversion-${number} ${status} ${revenue[status]} 1 1`
      }),
    ),
    compare(
      'costs',
      `SELECT id, toFloat64(cost_base), count() FROM costs FINAL WHERE ${condition} GROUP BY ALL`,
      [...costs].map((number) => `cost-${number} ${spent[corrections.has(number) ? 'corrected' : 'reported']} 1`),
    ),
    compare('events', `SELECT origin, id, count() FROM pixel_events FINAL WHERE ${condition} GROUP BY origin, id`, [
      ...[...acknowledged.events].map((id) => `server ${id} 1`),
      ...[...pixelEvents].map((number) => `browser pixel-${number} 1`),
    ]),
    differing(
      'campaigns',
      storedCampaigns.map(({ id }) => id),
      [...campaigns].map((number) => `campaign-${number}`),
    ),
  ])
  return found.flat()
}
