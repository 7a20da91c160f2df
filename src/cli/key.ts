import { InvalidArgumentError } from 'commander'
import { notSet } from '../../schema/dimensions.ts'
import { viewFilterNames } from '../../schema/filters.ts'
import { hideableNames, type KeyView } from '../../schema/keyView.ts'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { createKey, findKey, type KeyRow, listKeys, markShown, revokeKey, rotateKey } from '../accounts/manageKeys.ts'
import { listPlans } from '../accounts/plans.ts'
import { readFilters } from '../query/filters.ts'
import { viewOf } from '../query/keyView.ts'
import { parseTimeText } from '../query/timeText.ts'
import { acquireLease } from '../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../stores/timing/retry.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { accountOption, durationMs, parseDuration, parseId, parseName, parserOf, readAsApi } from './options.ts'
import { table } from './table.ts'

export function addKeyCommands(program: Command, context: CommandContext): void {
  const key = program.command('key').description('Manage API keys and their scopes.')

  key
    .command('create')
    .description('Create a key and show it once.')
    .addOption(accountOption())
    .requiredOption('--name <name>', 'purpose of the key', parseName)
    .option('--scopes <list>', 'with commas; also all, read:*, search:* (required without --allow-events)', parseScopes)
    .option('--allow-events', 'add the scope write:events')
    .option('--filter <name=values>', 'see only rows with one of these values; all filters must hold', parseFilter)
    .option('--hide <list>', `with --filter: hide any of ${hideableNames.join(', ')}`, parseHidden)
    .option('--expires <when>', 'days or hours from now (90d, 12h), or a time (2027-01-31T00:00:00Z)', parseExpiry)
    .notes(`
Scopes:
  ${listedScopes.join('\n  ')}

A key with --filter begins with trb_part_ and sees only a part of the account, for a partner. Metrics that are computed from what is hidden
are hidden too. The options are part of the key and never change.

If the command is interrupted before it shows the key, run it again: the key that was not shown is replaced.

Scopes are stored with the key, so a key that was created with "all" before a scope existed (read:events) does not have it.

Examples:
  tributary key create --account acme --name "BI tool" --scopes all --expires 90d
  tributary key create --account acme --name backend --allow-events
  tributary key create --account acme --name aff42 --scopes read:reports,read:stats --filter sub1=aff42 --hide cost`)
    .action((wanted: WantedKey) => createAndShow(context, wanted))

  key
    .command('list')
    .description('List the keys of an account with their expiry, last use and part, oldest first.')
    .addOption(accountOption())
    .example('tributary key list --account acme')
    .action(async ({ account }: { account: string }) => {
      const { stores } = await context.openAccount(account)
      const keys = await listKeys(stores.postgres, account)
      const times = ['expiresAt', 'revokedAt', 'lastUsedAt', 'replacedBy'] as const
      const columns = ['id', 'name', 'prefix', ...times, 'scopes', 'view'] as const
      context.print({ keys }, table(keys, `Account ${account} has no keys.`, columns))
    })

  key
    .command('rotate')
    .description('Replace a key by one with the same name, scopes, part and lifetime, and show the new key once.')
    .requiredOption('--id <id>', 'id of the key to replace (see: key list)', parseId)
    .requiredOption('--grace <time>', 'days or hours for which the old key remains valid (7d, 24h, 0h)', parseDuration)
    .notes(`
The old key ends after this time, or at its own expiry if that is earlier. If the new key was not saved, rotate it in turn.`)
    .example('tributary key rotate --id 0198c0de-7f00-7aaa-8bbb-0123456789ab --grace 24h')
    .action(async ({ id, grace: graceMs }: { id: string; grace: number }) => {
      const { postgres } = await context.openStores()
      const rotation = await rotateKey(postgres, id, graceMs, Date.now())
      if (!rotation) {
        const row = await findKey(postgres, id)
        throw row ? new CommandError(whyNotRotated(row)) : context.noSuch('key', id)
      }
      const { key: secret, row, previousExpiresAt } = rotation
      context.print(
        { id: row.id, key: secret, scopes: row.scopes, expiresAt: row.expiresAt, replaces: id, previousExpiresAt },
        `Created key ${row.id} of account ${row.accountId}; ${expiryText(row)}.\nThe replaced key ${id} ends at ${previousExpiresAt.toISOString()}.\nThe new key is shown only once:\n${secret}`,
      )
    })

  key
    .command('revoke')
    .description('Revoke a key; running servers reject it within 5 seconds.')
    .requiredOption('--id <id>', 'id of the key (see: key list)', parseId)
    .example('tributary key revoke --id 0198c0de-7f00-7aaa-8bbb-0123456789ab')
    .action(async ({ id }: { id: string }) => {
      const { postgres } = await context.openStores()
      const revoked = await revokeKey(postgres, id)
      if (!revoked) throw context.noSuch('key', id)
      context.print(revoked, `Key ${id} was revoked at ${revoked.revokedAt?.toISOString()}.`)
    })
}

interface WantedKey {
  account: string
  name: string
  scopes?: Scope[]
  allowEvents?: true
  expires?: Date
  filter?: KeyView['filters']
  hide?: string[]
}

/**
 * Creates a key and prints it. After an interruption before it was printed, the next run for the same name replaces it.
 * @throws UsageError, CommandError or LeaseLost
 */
async function createAndShow(context: CommandContext, options: WantedKey): Promise<void> {
  const { account: accountId, name, scopes: listed = [], allowEvents, expires, filter, hide = [] } = options
  const granted = scopes.filter((scope) => (scope === 'write:events' ? allowEvents : listed.includes(scope)))
  if (granted.length === 0) throw new UsageError('key create requires --scopes, --allow-events, or both.')
  if (filter && allowEvents) throw new UsageError('a key with --filter cannot send events; create another one.')
  if (!filter && hide.length > 0) throw new UsageError('--hide requires --filter.')
  const view = filter ? { filters: filter, hidden: hide } : null
  const { stores, account } = await context.openAccount(accountId)
  const { postgres } = stores
  const { printStatus, interrupted: signal } = context
  const lease = await acquireLease(postgres, `keys:${accountId}`, {
    onWait: () => printStatus(`Another command is creating a key of account ${accountId}; waiting for it to end.`),
    signal,
  })
  try {
    const wanted = { accountId, name, scopes: granted, expiresAt: expires ?? null, view, isShown: false }
    const created = await createKey(postgres, wanted)
    if (!created) throw new CommandError(`account ${accountId} has been deleted in the meantime.`)
    const { row, key } = created
    const { plan } = account
    if (!(await listPlans(postgres)).some(({ name, hasApi }) => name === plan && hasApi))
      printStatus(`warning: plan ${plan} of account ${accountId} has no access to the API, see: account set-plan.`)
    if (view && !hide.includes('cost')) printStatus(costWarning)
    if (hide.includes('revenue') && !hide.includes('payout')) printStatus(payoutWarning)
    await lease.assertHeld()
    const seen = view && { filters: view.filters, hidden: [...(viewOf(view)?.hiddenNames ?? [])] }
    context.print(
      { id: row.id, key, scopes: granted, ...seen },
      `Created key ${row.id} of account ${accountId} with ${granted.join(', ')}; ${expiryText(row)}.\n${seen ? `It sees a part of the account: ${JSON.stringify(seen)}.\n` : ''}It is shown only once:\n${key}`,
    )
    const mark = () => markShown(postgres, row)
    await retryWhileUnavailable('recording that the key was shown', mark, { onMessage: printStatus, signal })
  } finally {
    await lease.release()
  }
}

function expiryText({ expiresAt }: KeyRow): string {
  return expiresAt ? `it expires at ${expiresAt.toISOString()}` : 'it does not expire'
}

function whyNotRotated({ id, accountId, revokedAt, replacedBy, expiresAt }: KeyRow): string {
  if (revokedAt) return `key ${id} was revoked at ${revokedAt.toISOString()}; create a new key.`
  if (replacedBy) return `key ${id} has already been replaced by key ${replacedBy}; rotate that one instead.`
  if (expiresAt) return `key ${id} expired at ${expiresAt.toISOString()}; create a new key.`
  return `account ${accountId} of key ${id} was deleted.`
}

/** Scopes of `--scopes`; `write:events` has an option of its own. */
const listedScopes = scopes.filter((scope) => scope !== 'write:events')

function parseScopes(text: string): Scope[] {
  return text.split(',').flatMap((word) => {
    const wanted = word.trim()
    const matches = listedScopes.filter((scope) => [scope, scope.replace(/:.*/, ':*'), 'all'].includes(wanted))
    if (matches.length > 0) return matches
    throw new InvalidArgumentError(`No such scope: ${wanted}; see --help; use --allow-events for write:events.`)
  })
}

const costWarning =
  'warning: costs without a value of the filters are not in cost and profit of this key; hide them with --hide cost.'

const payoutWarning =
  'warning: the payout of a conversion is often its revenue, and this key sees it; hide it with --hide revenue,payout.'

/** Values that a row must have: with excluded ones, a key would see each new value. */
function parseFilter(text: string, before: KeyView['filters'] = {}): KeyView['filters'] {
  const [name = '', ...rest] = text.split('=')
  const isKnown = viewFilterNames.some((known) => known === name) && !(name in before) && rest.join('') !== ''
  const [filter] = isKnown ? readAsApi(() => readFilters({ [name]: rest.join('=') })) : []
  if (filter && !filter.isExcluded && !filter.values.includes(notSet)) return { ...before, [name]: [...filter.values] }
  throw new InvalidArgumentError(
    `Use name=value,value, each name once, with values that rows have: no ! and (not set). Names: ${viewFilterNames.join(', ')}.`,
  )
}

const parseHidden = parserOf(
  (text) => {
    const names = text.split(',').map((name) => name.trim())
    return names.every((name) => hideableNames.includes(name)) ? names : undefined
  },
  `Hide any of ${hideableNames.join(', ')}; metrics that are computed from them, such as profit, are hidden with them.`,
)

const parseExpiry = parserOf((text) => {
  const time = parseTimeText(text)
  const endMs = time?.kind === 'instant' ? time.ms : Date.now() + (durationMs(text) ?? 0)
  return endMs > Date.now() ? new Date(endMs) : undefined
}, 'Use days or hours from now (90d, 12h), or a time in the future (2027-01-31T00:00:00Z).')
