import { createAccount, listAccounts, listStaleAccounts, setPlanOfAccount } from '../accounts/accounts.ts'
import { missingEngines } from '../stores/open.ts'
import { addAccountDeleteCommand } from './accountDelete.ts'
import { addAccountExportCommand } from './accountExport.ts'
import { addAccountImportCommand } from './accountImport.ts'
import type { Command, CommandContext } from './context.ts'
import { assertCreatable } from './creatable.ts'
import { CommandError } from './errors.ts'
import { accountOption, parseDuration, parseId, parseName, parserOf } from './options.ts'
import { requirePlan } from './plan.ts'
import { storeLocation } from './storeLocation.ts'
import { table } from './table.ts'

export function addAccountCommands(program: Command, context: CommandContext): void {
  const account = program.command('account').description('Manage accounts: the owners of campaigns, clicks and keys.')

  account
    .command('create')
    .description('Create an account.')
    .requiredOption('--name <name>', 'display name', parseName)
    .option('--id <id>', 'id, can never change (default: generated)', parseId)
    .option('--plan <plan>', 'subscription plan (see: plan list)', 'pro')
    .option('--currency <code>', 'ISO 4217 code; the currency of stats and reports', parseCurrency, 'USD')
    .notes(`
If the command is interrupted, account list shows whether the account was created. With --id another run never creates a second one.`)
    .example('tributary account create --name "Acme Media" --id acme --currency EUR')
    .action(async (wanted: { name: string; id?: string; plan: string; currency: string }) => {
      const { postgres } = await context.openStores()
      const created = await createAccount(postgres, wanted)
      if (!created) {
        await assertCreatable(postgres, wanted)
        throw new CommandError(`account ${wanted.id} already exists.`)
      }
      context.print(
        created,
        `Created account ${created.id} (${created.name}), plan ${created.plan}, ${created.currency}.`,
      )
    })

  account
    .command('list')
    .description('List all accounts, oldest first.')
    .option('--stale <time>', 'only accounts with clicks, but none in this time, such as 6h or 2d', parseDuration)
    .notes('\nExamples:\n  tributary account list --json\n  tributary account list --stale 6h')
    .action(async ({ stale }: { stale?: number }) => {
      const isMissing = missingEngines(context.settings).includes('postgres')
      if (stale !== undefined && !isMissing) {
        const accounts = await listStaleAccounts((await context.openStores()).postgres, stale)
        return context.print({ accounts }, table(accounts, 'No stale accounts.', ['id', 'name', 'lastStoredAt']))
      }
      const accounts = isMissing ? [] : await listAccounts((await context.openStores()).postgres)
      const missing = isMissing ? 'No store' : 'No accounts'
      const empty = `${missing} in ${storeLocation(context.settings)}; create an account with: tributary account create.`
      context.print({ accounts }, table(accounts, empty))
    })

  account
    .command('set-plan')
    .description('Change the plan of an account; running servers apply it within 5 seconds.')
    .addOption(accountOption())
    .requiredOption('--plan <plan>', 'new plan (see: plan list)')
    .example('tributary account set-plan --account acme --plan scale')
    .action(async ({ account: id, plan }: { account: string; plan: string }) => {
      const { postgres } = (await context.openAccount(id)).stores
      const changed = await setPlanOfAccount(postgres, id, plan)
      if (!changed) {
        await requirePlan(postgres, plan)
        throw new CommandError(`account ${id} has been removed in the meantime.`)
      }
      context.print(changed, `Account ${changed.id} is on plan ${changed.plan}.`)
    })

  addAccountExportCommand(account, context)
  addAccountImportCommand(account, context)
  addAccountDeleteCommand(account, context)
}

const parseCurrency = parserOf(
  (text) => Intl.supportedValuesOf('currency').find((code) => code === text),
  'A currency is three uppercase letters of ISO 4217, such as USD.',
)
