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
months that retention has removed are not known.`)
    .example('tributary usage --account acme --months 3')
    .action(async ({ account: id, months: count }: { account: string; months: number }) => {
      const { stores, account } = await context.openAccount(id)
      const { clickAllowance = 0 } = (await listPlans(stores.postgres)).find(({ name }) => name === account.plan) ?? {}
      const { eventsMs } = await readRetainedRanges(stores.postgres, id)
      const nowMs = Date.now()
      const months = []
      for (let ago = 0; ago < count; ago += 1) {
        const monthMs = startOfUtcMonth(nowMs, -ago)
        const { clicks, events } = await countMonth({ stores, signal: context.interrupted }, id, monthMs)
        const month = new Date(monthMs).toISOString().slice(0, 7)
        // Retention has removed events of the month: their number is not known.
        months.push({ month, clicks, events: monthMs < eventsMs ? null : events })
      }
      const eventCeiling = fairUseFactor * clickAllowance
      context.print(
        { account: id, plan: account.plan, clickAllowance, eventCeiling, months },
        `Plan ${account.plan}: ${clickAllowance} clicks and at most ${eventCeiling} events per month.\n${table(months, '')}`,
      )
    })
}
