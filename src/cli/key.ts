import { type Command, InvalidArgumentError } from 'commander'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { createKey, listKeys, revokeKey } from '../accounts/keys.ts'
import { parseId, parseName, requireAccount } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { table } from './table.ts'

/** `key create`, `key list`, `key revoke`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const key = program.command('key').description('Manage API keys and their scopes.')

  key
    .command('create')
    .description('Create a key and show it once.')
    .requiredOption('--account <id>', 'id of the account', parseId)
    .requiredOption('--name <name>', 'purpose of the key', parseName)
    .option('--scopes <list>', 'scopes, separated by commas; also all, read:*, search:*', parseScopes)
    .option('--allow-events', 'add the scope write:events')
    .option(
      '--expires <when>',
      'lifetime in days or hours (90d, 12h), or the time of expiry (2027-01-31T00:00:00Z)',
      parseExpiry,
    )
    .addHelpText(
      'after',
      `
Scopes:
  ${scopes.filter((scope) => scope !== 'write:events').join('\n  ')}

Examples:
  tributary key create --account acme --name "BI tool" --scopes all --expires 90d
  tributary key create --account acme --name backend --allow-events`,
    )
    .action(
      async (wanted: { account: string; name: string; scopes?: Scope[]; allowEvents?: true; expires?: Expiry }) => {
        const granted = scopes.filter(
          (scope) => wanted.scopes?.includes(scope) || (scope === 'write:events' && wanted.allowEvents),
        )
        if (granted.length === 0) throw new UsageError('key create requires --scopes, --allow-events, or both.')
        const { postgres } = await context.openStores()
        const created = await createKey(postgres, {
          accountId: wanted.account,
          name: wanted.name,
          scopes: granted,
          expiresAt: wanted.expires?.(Date.now()) ?? null,
        })
        if (!created) {
          await requireAccount(postgres, wanted.account)
          throw new CommandError(`account ${wanted.account} has been created in the meantime; run the command again.`)
        }
        const { id, expiresAt } = created.row
        context.print(
          { id, key: created.key, scopes: granted },
          `Created key ${id} of account ${wanted.account} with ${granted.join(', ')}; ${expiresAt ? `it expires at ${expiresAt.toISOString()}` : 'it does not expire'}.\nIt is shown only once:\n${created.key}`,
        )
      },
    )

  key
    .command('list')
    .description('List the keys of an account, oldest first.')
    .requiredOption('--account <id>', 'id of the account', parseId)
    .addHelpText('after', '\nExample:\n  tributary key list --account acme')
    .action(async ({ account }: { account: string }) => {
      const { postgres } = await context.openStores()
      await requireAccount(postgres, account)
      const keys = await listKeys(postgres, account)
      const shown = keys.map((row) => ({
        ...row,
        expiresAt: row.expiresAt?.toISOString() ?? null,
        revokedAt: row.revokedAt?.toISOString() ?? null,
        lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
      }))
      context.print(
        { keys },
        table(
          shown,
          ['id', 'name', 'prefix', 'expiresAt', 'revokedAt', 'lastUsedAt', 'scopes'],
          `Account ${account} has no keys.`,
        ),
      )
    })

  key
    .command('revoke')
    .description('Revoke a key; running servers reject it within 5 seconds.')
    .requiredOption('--id <id>', 'id of the key (see: key list)', parseId)
    .addHelpText('after', '\nExample:\n  tributary key revoke --id 0198c0de-7f00-7aaa-8bbb-0123456789ab')
    .action(async ({ id }: { id: string }) => {
      const { postgres } = await context.openStores()
      const revoked = await revokeKey(postgres, id)
      if (!revoked) throw new CommandError(`no such key: ${id}; see: key list.`)
      context.print(revoked, `Key ${id} was revoked at ${revoked.revokedAt?.toISOString()}.`)
    })
}

/** Values of `--scopes` that stand for several scopes; the scopes themselves are stored. */
const scopeGroups = new Map<string, (scope: Scope) => boolean>([
  ['all', (scope) => scope !== 'write:events'],
  ['read:*', (scope) => scope.startsWith('read:')],
  ['search:*', (scope) => scope.startsWith('search:')],
])

function parseScopes(text: string): Scope[] {
  return text.split(',').flatMap((word) => {
    const wanted = word.trim()
    if (wanted === 'write:events') throw new InvalidArgumentError('use --allow-events for write:events.')
    const isMatch = scopeGroups.get(wanted) ?? ((scope: Scope) => scope === wanted)
    const matches = scopes.filter(isMatch)
    if (matches.length === 0) {
      throw new InvalidArgumentError(`No such scope: ${wanted}; scopes: ${scopes.join(', ')}.`)
    }
    return matches
  })
}

/** Time of expiry of a key, from the time of its creation. */
type Expiry = (nowMs: number) => Date

const unitMs = { d: 86_400_000, h: 3_600_000 } as const

function parseExpiry(text: string): Expiry {
  const [, count, unit] = /^([1-9]\d{0,4})([dh])$/.exec(text) ?? []
  if (count && unit) return (nowMs) => new Date(nowMs + Number(count) * unitMs[unit as keyof typeof unitMs])
  const endMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(endMs) || endMs <= Date.now()) {
    throw new InvalidArgumentError(
      'Use days or hours from now (90d, 12h), or a time in the future (2027-01-31T00:00:00Z).',
    )
  }
  return () => new Date(endMs)
}
