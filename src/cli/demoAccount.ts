import { scopes } from '../../schema/scopes.ts'
import { type Account, createAccount, findAccount, listAccounts } from '../accounts/accounts.ts'
import { createKey } from '../accounts/keys.ts'
import { newestClickId } from '../demo/clicks.ts'
import { fillDemo } from '../demo/fill.ts'
import { dayMs, planDemo } from '../demo/visits.ts'
import type { Stores } from '../stores/open.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { CommandContext } from './context.ts'
import { demoDefaults, sentence } from './demo.ts'
import { CommandError } from './errors.ts'
import { openProgress } from './progress.ts'

/** The account that `serve --demo` fills; its name tells it from a customer of the same id. */
const demoAccount = { id: 'demo', name: 'Harbour Media (made-up demo)', plan: 'scale', currency: 'USD' } as const
const keyDays = 30

/**
 * Finds the demo account, or makes it where there is no account at all.
 * @throws Failure where there are only accounts of other people
 */
export async function openDemoAccount(postgres: Postgres): Promise<Account> {
  const present = await findAccount(postgres, demoAccount.id)
  if (present?.name === demoAccount.name) return present
  const others = await listAccounts(postgres)
  const created = others.length === 0 ? await createAccount(postgres, demoAccount) : undefined
  if (created) return created
  const named = others.slice(0, 3).map(({ id }) => id)
  throw new CommandError(
    `--demo fills an empty store, and this one has accounts (${named.join(', ')}${others.length > 3 ? ', …' : ''}). ` +
      'Name another folder (DATA_DIR=./demo-data), or fill an account of yours: tributary demo --account ID.',
  )
}

/**
 * Fills the account up to the present moment, gives it a new key, and says what to do with it.
 * @param url where the server listens, without a slash at the end
 * @param clicks about how many the account shall have
 */
export async function fillAndWelcome(
  context: CommandContext,
  stores: Stores,
  account: Account,
  { url, clicks }: { url: string; clicks: number },
): Promise<void> {
  const nowMs = Date.now()
  const plan = planDemo({ ...demoDefaults, clicks, nowMs, currency: account.currency })
  context.printStatus(`Filling the account ${account.id} up to this minute …`)
  const progress = openProgress()
  const tallies = await fillDemo(stores, account, plan, {
    onMessage: (line) => progress.printAbove(() => context.printStatus(line)),
    // Whoever has enough of it ends the process; filling again completes it.
    signal: new AbortController().signal,
    onProgress: progress.show,
  }).finally(() => progress.stop())
  const key = await makeKey(stores.postgres, account, nowMs)
  const calls = callsToTry(url, key, newestClickId(plan))
  const docs = `${url}/api/v1/docs`
  context.print(
    { url, docs, account: account.id, key, calls },
    `
Tributary listens on ${url}. The account ${account.id} has made-up rows of the last ${plan.days} days:
${sentence(tallies)}

  key   ${key}
        for everything, ${keyDays} days long; shown this once, the next start makes another
  docs  ${docs}
        Authorize with the key, open a call, Execute

Calls to paste:

${calls.join('\n\n')}

Ctrl-C stops it.`,
  )
}

async function makeKey(postgres: Postgres, account: Account, nowMs: number): Promise<string> {
  const expiresAt = new Date(nowMs + keyDays * dayMs)
  const created = await createKey(postgres, { accountId: account.id, name: 'serve --demo', scopes, expiresAt })
  if (!created) throw new CommandError(`account ${account.id} was removed meanwhile.`)
  return created.key
}

/** Calls to paste into a terminal, one line each. */
function callsToTry(url: string, key: string, clickId: string | undefined): string[] {
  const ask = `curl -s -H 'Authorization: ApiKey ${key}'`
  const get = (path: string) => `${ask} '${url}/api/v1${path}'`
  const whose = clickId ? { click_id: clickId } : { visitor_id: 'somebody', campaign_id: 'cmp-luma-meta-broad' }
  const event = JSON.stringify({ ...whose, event_name: 'trial_started', event_id: 'order-1001-trial' })
  return [
    get('/reports?group_by=campaign&days=30'),
    get('/stats/daily?days=7&tz=America/New_York'),
    get('/clicks?converted=true&limit=3'),
    get('/conversions?status=refunded,chargeback&limit=3'),
    `${ask} -H 'Content-Type: application/json' -d '${event}' '${url}/api/v1/events'`,
  ]
}
