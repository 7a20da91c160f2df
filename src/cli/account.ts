import { type Command, InvalidArgumentError } from 'commander'
import { idPattern } from '../../schema/scalars.ts'
import { type Account, createAccount, findAccount, listAccounts, setPlanOfAccount } from '../accounts/accounts.ts'
import { listPlans } from '../accounts/plans.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { table } from './table.ts'

/** `account create`, `account list`, `account set-plan`. */
export function addAccountCommands(program: Command, context: CommandContext): void {
  const account = program.command('account').description('Customers: who owns campaigns, clicks and keys.')

  account
    .command('create')
    .description('Create an account.')
    .requiredOption('--name <name>', 'what people call it', parseName)
    .option('--id <id>', 'its id, for ever; made up when left out', parseId)
    .option('--plan <plan>', 'its plan (see: plan list)', 'pro')
    .option('--currency <code>', 'ISO 4217; stats and reports are in it', parseCurrency, 'USD')
    .addHelpText('after', '\nExample:\n  tributary account create --name "Acme Media" --id acme --currency EUR')
    .action(async (wanted: { name: string; id?: string; plan: string; currency: string }) => {
      const { postgres } = await context.openStores()
      const created = await createAccount(postgres, wanted)
      if (!created) {
        await requirePlan(postgres, wanted.plan)
        throw new CommandError(`account ${wanted.id} exists already.`)
      }
      context.print(
        created,
        `Created account ${created.id} (${created.name}), plan ${created.plan}, ${created.currency}.`,
      )
    })

  account
    .command('list')
    .description('List the accounts, oldest first.')
    .addHelpText('after', '\nExample:\n  tributary account list --json')
    .action(async () => {
      const { postgres } = await context.openStores()
      const accounts = await listAccounts(postgres)
      const shown = accounts.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }))
      context.print(
        { accounts },
        table(shown, ['id', 'name', 'plan', 'currency', 'createdAt'], 'There is no account yet.'),
      )
    })

  account
    .command('set-plan')
    .description('Move an account to another plan; running servers follow within 5 seconds.')
    .requiredOption('--account <id>', 'the account', parseId)
    .requiredOption('--plan <plan>', 'the plan (see: plan list)')
    .addHelpText('after', '\nExample:\n  tributary account set-plan --account acme --plan scale')
    .action(async ({ account: id, plan }: { account: string; plan: string }) => {
      const { postgres } = await context.openStores()
      const changed = await setPlanOfAccount(postgres, id, plan)
      if (!changed) {
        await requirePlan(postgres, plan)
        await requireAccount(postgres, id)
        throw new CommandError(`account ${id} was removed meanwhile.`)
      }
      context.print(changed, `Account ${changed.id} is on plan ${changed.plan}.`)
    })
}

/**
 * Finds the account that `--account` names.
 * @throws Failure when there is none
 */
export async function requireAccount(postgres: Postgres, id: string): Promise<Account> {
  const account = await findAccount(postgres, id)
  if (!account) throw new CommandError(`there is no account ${id}; see: account list.`)
  return account
}

/** Reads an option that is an id of ours. */
export function parseId(text: string): string {
  if (!new RegExp(idPattern).test(text)) {
    throw new InvalidArgumentError('An id has 1 to 64 letters, digits and _ . : - and nothing else.')
  }
  return text
}

/** Reads an option that people give a thing as its name. */
export function parseName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > 200 || /\p{Cc}/u.test(name)) {
    throw new InvalidArgumentError('A name has 1 to 200 characters.')
  }
  return name
}

function parseCurrency(text: string): string {
  if (!Intl.supportedValuesOf('currency').includes(text)) {
    throw new InvalidArgumentError('A currency is three uppercase letters of ISO 4217, such as USD.')
  }
  return text
}

async function requirePlan(postgres: Postgres, name: string): Promise<void> {
  const plans = await listPlans(postgres)
  if (plans.some((plan) => plan.name === name)) return
  throw new CommandError(`there is no plan ${name}; there are ${plans.map((plan) => plan.name).join(', ')}.`)
}
