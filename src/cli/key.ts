import { type Command, InvalidArgumentError } from 'commander'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { createKey, listKeys, revokeKey } from '../accounts/keys.ts'
import { parseId, parseName, requireAccount } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { table } from './table.ts'

/** `key create`, `key list`, `key revoke`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const key = program.command('key').description('API keys: who may ask for what.')

  key
    .command('create')
    .description('Create a key and show it this once.')
    .requiredOption('--account <id>', 'whose key it is', parseId)
    .requiredOption('--name <name>', 'what it is for', parseName)
    .option('--scopes <list>', 'what it may do, separated by commas; also all, read:*, search:*', parseScopes)
    .option('--allow-events', 'let it send events: the scope write:events')
    .option(
      '--expires <when>',
      'in how many days or hours it ends (90d, 12h), or when (2027-01-31T00:00:00Z)',
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
        if (granted.length === 0) throw new UsageError('key create needs --scopes, --allow-events, or both.')
        const { postgres } = await context.openStores()
        const created = await createKey(postgres, {
          accountId: wanted.account,
          name: wanted.name,
          scopes: granted,
          expiresAt: wanted.expires?.(Date.now()) ?? null,
        })
        if (!created) {
          await requireAccount(postgres, wanted.account)
          throw new CommandError(`account ${wanted.account} was created meanwhile; run this again.`)
        }
        const { id, expiresAt } = created.row
        context.print(
          { id, key: created.key, scopes: granted },
          `Key ${id} of account ${wanted.account} for ${granted.join(', ')}, ${expiresAt ? `until ${expiresAt.toISOString()}` : 'without an end'}.\nIt is shown this once:\n${created.key}`,
        )
      },
    )

  key
    .command('list')
    .description('List the keys of an account, oldest first.')
    .requiredOption('--account <id>', 'the account', parseId)
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
          `Account ${account} has no key.`,
        ),
      )
    })

  key
    .command('revoke')
    .description('End a key; running servers refuse it within 5 seconds.')
    .requiredOption('--id <id>', 'the id of the key (see: key list)', parseId)
    .addHelpText('after', '\nExample:\n  tributary key revoke --id 0198c0de-7f00-7aaa-8bbb-0123456789ab')
    .action(async ({ id }: { id: string }) => {
      const { postgres } = await context.openStores()
      const revoked = await revokeKey(postgres, id)
      if (!revoked) throw new CommandError(`there is no key ${id}; see: key list.`)
      context.print(revoked, `Key ${id} is revoked since ${revoked.revokedAt?.toISOString()}.`)
    })
}

/** Words of `--scopes` that stand for several scopes; what is stored is spelled out. */
const families = new Map<string, (scope: Scope) => boolean>([
  ['all', (scope) => scope !== 'write:events'],
  ['read:*', (scope) => scope.startsWith('read:')],
  ['search:*', (scope) => scope.startsWith('search:')],
])

function parseScopes(text: string): Scope[] {
  return text.split(',').flatMap((word) => {
    const wanted = word.trim()
    if (wanted === 'write:events') throw new InvalidArgumentError('write:events comes only from --allow-events.')
    const isMeant = families.get(wanted) ?? ((scope: Scope) => scope === wanted)
    const meant = scopes.filter(isMeant)
    if (meant.length === 0) {
      throw new InvalidArgumentError(`There is no scope ${wanted}; there are ${scopes.join(', ')}.`)
    }
    return meant
  })
}

/** When a key ends, seen from the moment it is made. */
type Expiry = (nowMs: number) => Date

const unitMs = { d: 86_400_000, h: 3_600_000 } as const

function parseExpiry(text: string): Expiry {
  const [, count, unit] = /^([1-9]\d{0,4})([dh])$/.exec(text) ?? []
  if (count && unit) return (nowMs) => new Date(nowMs + Number(count) * unitMs[unit as keyof typeof unitMs])
  const endMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(endMs) || endMs <= Date.now()) {
    throw new InvalidArgumentError(
      'Give days or hours from now (90d, 12h), or a moment to come (2027-01-31T00:00:00Z).',
    )
  }
  return () => new Date(endMs)
}
