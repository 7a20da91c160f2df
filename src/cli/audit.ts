import { listAuditEntries } from '../accounts/audit.ts'
import { openRange } from '../query/timeRange.ts'
import type { Command, CommandContext } from './context.ts'
import { parseId, type RangeOptions, readAsApi } from './options.ts'
import { table } from './table.ts'

export function addAuditCommands(program: Command, context: CommandContext): void {
  const audit = program.command('audit').description('Read the log of changes made by this command.')

  audit
    .command('list')
    .description('List changes of accounts, keys and plans, oldest first.')
    .option('--account <id>', 'only changes of this account, which may have been deleted', parseId)
    .option('--actor <user>', 'only changes by this user (deploy), or by the user on one host (deploy@api-1)')
    .option('--from <moment>', 'start of the range: 2026-11-01 or 2026-11-01T00:00:00Z')
    .option('--to <moment>', 'end of the range: a time is exclusive, a date includes its whole UTC day')
    .notes(`
Each entry has the time, the operating system user and host that ran the command, and the new values; "before" has the
values that they replaced. Keys are named by their id. Commands that changed nothing have no entry, nor have imports.

Examples:
  tributary audit list --account acme
  tributary audit list --actor deploy --from 2026-11-01 --json`)
    .action(async ({ account: accountId, actor, ...moments }: RangeOptions & { account?: string; actor?: string }) => {
      const filter = {
        ...(accountId && { accountId }),
        ...(actor && { actor }),
        ...readAsApi(() => openRange(moments)),
      }
      const { postgres } = await context.openStores()
      const entries = await listAuditEntries(postgres, filter)
      context.print({ entries }, table(entries, 'No changes.'))
    })
}
