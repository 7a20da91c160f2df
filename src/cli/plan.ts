import type { Command } from 'commander'
import { listPlans, type SubscriptionPlanLimits, type SubscriptionPlanRow, setPlanLimits } from '../accounts/plans.ts'
import type { CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { wholeNumberFrom } from './options.ts'
import { table } from './table.ts'

const columns = [
  'name',
  'hasApi',
  'requestsPerMinute',
  'eventsPerMinute',
  'identifierEventsPerMinute',
  'clickAllowance',
] as const satisfies readonly (keyof SubscriptionPlanRow)[]

/** `plan list`, `plan set`. */
export function addPlanCommands(program: Command, context: CommandContext): void {
  const plan = program.command('plan').description('Plans: what accounts may do, and how much of it.')

  plan
    .command('list')
    .description('List the plans and their limits.')
    .addHelpText('after', '\nExample:\n  tributary plan list')
    .action(async () => {
      const { postgres } = await context.openStores()
      const plans = await listPlans(postgres)
      context.print({ plans }, table(plans, columns, 'There is no plan.'))
    })

  plan
    .command('set')
    .description('Change the numbers of a plan; running servers follow within 5 seconds.')
    .argument('<name>', 'the plan')
    .option('--click-allowance <n>', 'tracked clicks a UTC month; events stop at 20 times it', wholeNumberFrom(0))
    .option('--requests-per-minute <n>', 'per key, all endpoints but events', wholeNumberFrom(1))
    .option('--events-per-minute <n>', 'per key', wholeNumberFrom(1))
    .option('--identifier-events-per-minute <n>', 'per click or visitor', wholeNumberFrom(1))
    .addHelpText('after', '\nExample:\n  tributary plan set pro --requests-per-minute 1200')
    .action(async (name: string, limits: SubscriptionPlanLimits) => {
      if (Object.keys(limits).length === 0) throw new UsageError('plan set needs at least one number to change.')
      const { postgres } = await context.openStores()
      const changed = await setPlanLimits(postgres, name, limits)
      if (!changed) throw new CommandError(`there is no plan ${name}; see: plan list.`)
      context.print(changed, table([changed], columns, ''))
    })
}
