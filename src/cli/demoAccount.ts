import { scopes } from '../../schema/scopes.ts'
import { type Account, createAccount, findAccount, listAccounts } from '../accounts/accounts.ts'
import { createKey } from '../accounts/manageKeys.ts'
import { explorePath } from '../http/explore/routes.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { dayMs } from '../stores/timing/units.ts'
import type { CommandContext } from './context.ts'
import { demoDefaults, filledSentence } from './demo.ts'
import { newestClickId } from './demoData/clicks.ts'
import { fillDemo } from './demoData/fill.ts'
import { demoOf } from './demoData/visits.ts'
import { CommandError } from './errors.ts'
import { showProgress } from './progress.ts'
import { commandLine, storeLocation } from './storeLocation.ts'

/** The account that `serve --demo` fills; its name distinguishes it from a customer's account with the same id. */
const demoAccount = { id: 'demo', name: 'Harbour Media (made-up demo)', plan: 'scale', currency: 'USD' } as const
const keyDays = 30
const demoSteps = 'visit,signup,trial_started,purchase'

/**
 * Finds the demo account, or creates it if there is no account at all.
 * @throws CommandError if only other accounts exist
 */
export async function openDemoAccount(postgres: Postgres): Promise<Account> {
  const present = await findAccount(postgres, demoAccount.id)
  if (present?.name === demoAccount.name) return present
  const others = await listAccounts(postgres)
  const created = others.length === 0 ? await createAccount(postgres, demoAccount) : undefined
  if (created) return created
  throw new CommandError(
    `--demo needs an empty database, but this one has the account ${others[0]?.id}. Set another folder (DATA_DIR=./demo-data), or fill an account: tributary demo --account ID.`,
  )
}

/**
 * Fills the account up to the current time, creates a key, and prints example requests.
 * @param url base URL of the server, without a slash at the end
 * @param clicks approximate number of clicks of the account
 */
export async function fillAndWelcome(context: CommandContext, account: Account, url: string, clicks: number) {
  const stores = await context.openStores()
  const nowMs = Date.now()
  const demo = demoOf({ ...demoDefaults, clicks, nowMs, currency: account.currency })
  context.printStatus(`Filling the account ${account.id} in ${storeLocation(context.settings)} …`)
  // Never aborted: a signal ends the process, and the next start completes the demo.
  const { signal } = new AbortController()
  const progress = showProgress(context, signal)
  const tallies = await fillDemo(stores, account, demo, progress).finally(progress.end)
  const expiresAt = new Date(nowMs + keyDays * dayMs)
  const wanted = { accountId: account.id, name: 'serve --demo', scopes, expiresAt }
  const created = await createKey(stores.postgres, wanted)
  if (!created) throw new CommandError(`account ${account.id} has been removed in the meantime.`)
  const { key } = created
  const calls = exampleRequests(url, key, newestClickId(demo))
  const docs = `${url}/api/v1/docs`
  // The fragment is not sent to the server; the page removes it from the address.
  // The campaign that lost most money is in the first row.
  const explore = `${url}${explorePath}?range=7d&metrics=profit,cost&sort=profit&steps=${demoSteps}#key=${key}`
  const command = commandLine(context.settings)
  context.print(
    { url, docs, explore, account: account.id, key, calls, command },
    `
Tributary listens on ${url}. The account ${account.id} has generated rows of the last ${demo.days} days:
${filledSentence(tallies)}

  key   ${key}
        all scopes, expires in ${keyDays} days; shown only once, each start creates a new one
  docs  ${docs}
        with the key, requests can be sent from this page
  page  ${explore}
        shows the numbers in the browser, the campaign that lost most money this week first; the link has the key

Requests to paste into another terminal:

${calls.join('\n\n')}

The command line, on the same store and from any folder:

${command} account list

Press Ctrl-C to stop.`,
  )
}

function exampleRequests(url: string, key: string, clickId: string | undefined): string[] {
  const curl = `curl -s -H 'Authorization: ApiKey ${key}'`
  const get = (path: string) => `${curl} '${url}/api/v1${path}'`
  const source = clickId ? { click_id: clickId } : { visitor_id: 'visitor-1', campaign_id: 'cmp-luma-meta-broad' }
  const event = JSON.stringify({ ...source, event_name: 'trial_started', event_id: 'order-1001-trial' })
  return [
    get('/reports?group_by=campaign&days=30'),
    get('/reports?group_by=campaign,country&days=7&compare=previous_period&sort=-revenue&limit=5'),
    get('/stats/daily?days=7&tz=America/New_York'),
    get(`/funnels?steps=${demoSteps}&days=30`),
    get('/clicks?converted=true&limit=3'),
    get('/conversions?status=refunded,chargeback&limit=3'),
    `${curl} -H 'Content-Type: application/json' -d '${event}' '${url}/api/v1/events'`,
  ]
}
