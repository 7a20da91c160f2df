import { listAuditEntries } from '../accounts/audit.ts'
import type { Command, CommandContext } from './context.ts'
import { parseId } from './options.ts'
import { table } from './table.ts'

export function addAuditCommands(program: Command, context: CommandContext): void {
  const audit = program.command('audit').description('Read the log of changes made by this command.')

  audit
    .command('list')
    .description('List changes of accounts, keys and plans, oldest first.')
    .option('--account <id>', 'only changes of this account, which may have been deleted', parseId)
    .notes(`
Each entry has the time, the operating system user and host that ran the command, and the new values; "before" has the
values that they replaced. Keys are named by their id. Commands that changed nothing have no entry, nor have imports.

Examples:
  tributary audit list --account acme
  tributary audit list --json`)
    .action(async ({ account }: { account?: string }) => {
      const { postgres } = await context.openStores()
      const entries = await listAuditEntries(postgres, account)
      context.print({ entries }, table(entries, ['at', 'action', 'actor', 'accountId', 'details'], 'No changes.'))
    })
}
