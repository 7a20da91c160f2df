import { fairUseFactor } from '../../schema/event.ts'
import { listPlans } from '../accounts/plans.ts'
import { countMonth } from '../query/monthlyCounts.ts'
import { readRetainedRanges } from '../stores/postgres/retainedRanges.ts'
import { startOfUtcMonth } from '../stores/timing/utcMonth.ts'
import type { Command, CommandContext } from './context.ts'
import { accountOption, wholeNumberFrom } from './options.ts'
import { table } from './table.ts'

export function addUsageCommand(program: Command, context: CommandContext): void {
  program
    .command('usage')
    .description('Print the tracked clicks and stored server events of an account by UTC month, newest first.')
    .addOption(accountOption())
    .option('--months <n>', 'number of months, the present one included', wholeNumberFrom(1, 120), 12)
    .notes(`
Clicks count as in stats and reports: without bots and tests, and also after retention has removed their rows. Events of
months that retention has removed are not known.

Example:
  tributary usage --account acme --months 3`)
    .action(async ({ account, months }: { account: string; months: number }) => {
      const { postgres } = await context.openStores()
      const { id, plan } = await context.requireAccount(account)
      const { clickAllowance = 0 } = (await listPlans(postgres)).find(({ name }) => name === plan) ?? {}
      const rows = await readMonths(context, id, months)
      const eventCeiling = fairUseFactor * clickAllowance
      context.print(
        { account: id, plan, clickAllowance, eventCeiling, months: rows },
        `Plan ${plan}: ${clickAllowance} clicks and at most ${eventCeiling} events per month.\n${table(rows, ['month', 'clicks', 'events'], '')}`,
      )
    })
}

/** @returns a row for each UTC month, `2026-11`; `events` is null when events of the month have been removed by retention */
async function readMonths(context: CommandContext, accountId: string, months: number) {
  const stores = await context.openStores()
  const { eventsMs } = await readRetainedRanges(stores.postgres, accountId)
  const nowMs = Date.now()
  const rows = []
  for (let ago = 0; ago < months; ago += 1) {
    const monthMs = startOfUtcMonth(nowMs, -ago)
    const { clicks, events } = await countMonth({ stores, signal: context.interrupted }, accountId, monthMs)
    const month = new Date(monthMs).toISOString().slice(0, 7)
    rows.push({ month, clicks, events: monthMs < eventsMs ? null : events })
  }
  return rows
}
