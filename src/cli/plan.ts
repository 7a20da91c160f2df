import { listPlans, type SubscriptionPlanLimits, type SubscriptionPlanRow, setPlanLimits } from '../accounts/plans.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { retainedMonthsMax, wholeNumberFrom } from './options.ts'
import { table } from './table.ts'

function planTable(plans: readonly SubscriptionPlanRow[]): string {
  return table(plans, Object.keys(plans[0] ?? {}) as (keyof SubscriptionPlanRow)[], 'No plans.')
}

export function addPlanCommands(program: Command, context: CommandContext): void {
  const plan = program.command('plan').description('Manage subscription plans: the limits of accounts.')

  plan
    .command('list')
    .description('List the plans and their limits.')
    .notes('\nExample:\n  tributary plan list')
    .action(async () => {
      const { postgres } = await context.openStores()
      const plans = await listPlans(postgres)
      context.print({ plans }, planTable(plans))
    })

  plan
    .command('set')
    .description('Change the limits of a plan; running servers apply them within 5 seconds.')
    .argument('<name>', 'name of the plan')
    .option(
      '--click-allowance <n>',
      'tracked clicks per UTC month; events beyond 20 times this number are not stored',
      wholeNumberFrom(0),
    )
    .option('--requests-per-minute <n>', 'per key, all endpoints except events', wholeNumberFrom(1))
    .option('--events-per-minute <n>', 'per key', wholeNumberFrom(1))
    .option('--identifier-events-per-minute <n>', 'per click or visitor', wholeNumberFrom(1))
    .option(
      '--retained-click-months <n>',
      'remove clicks after this many whole UTC months; 0 retains all (see: retention)',
      wholeNumberFrom(0, retainedMonthsMax),
    )
    .option('--retained-event-months <n>', 'the same for events', wholeNumberFrom(0, retainedMonthsMax))
    .notes('\nExample:\n  tributary plan set pro --requests-per-minute 1200')
    .action(async (name: string, limits: SubscriptionPlanLimits) => {
      if (Object.keys(limits).length === 0) throw new UsageError('plan set requires at least one limit.')
      const { postgres } = await context.openStores()
      const changed = await setPlanLimits(postgres, name, limits)
      if (!changed) throw new CommandError(`no such plan: ${name}; see: plan list.`)
      context.print(changed, planTable([changed]))
    })
}
