import { createPlan, deletePlan, listPlans, type SubscriptionPlanLimits, setPlanLimits } from '../accounts/plans.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { parseName, retainedMonthsMax, wholeNumberFrom } from './options.ts'
import { table } from './table.ts'

export function addPlanCommands(program: Command, context: CommandContext): void {
  const plan = program.command('plan').description('Manage subscription plans: the limits of accounts.')

  plan
    .command('list')
    .description('List the plans and their limits.')
    .example('tributary plan list')
    .action(async () => {
      const { postgres } = await context.openStores()
      const plans = await listPlans(postgres)
      context.print({ plans }, table(plans, 'No plans.'))
    })

  withLimits(plan.command('create'))
    .description('Create a plan; without all three limits per minute it has no access to the API.')
    .notes(`
Example:
  tributary plan create trial --click-allowance 50000 --requests-per-minute 60 --events-per-minute 600 \\
    --identifier-events-per-minute 60 --retained-click-months 3`)
    .action(async (name: string, { clickAllowance, ...limits }: SubscriptionPlanLimits) => {
      if (clickAllowance === undefined) throw new UsageError('plan create requires --click-allowance.')
      const { postgres } = await context.openStores()
      const created = await createPlan(postgres, name, { ...limits, clickAllowance })
      if (!created) throw new CommandError(`plan ${name} already exists; change it with: plan set.`)
      context.print(created, table([created], ''))
    })

  withLimits(plan.command('set'))
    .description('Change the limits of a plan; running servers apply them within 5 seconds.')
    .notes(`
A plan without access to the API gets it when all three limits per minute are given.`)
    .example('tributary plan set pro --requests-per-minute 1200')
    .action(async (name: string, limits: SubscriptionPlanLimits) => {
      if (Object.keys(limits).length === 0) throw new UsageError('plan set requires at least one limit.')
      const { postgres } = await context.openStores()
      const changed = await setPlanLimits(postgres, name, limits)
      if (!changed) throw await noSuchPlan(postgres, name)
      context.print(changed, table([changed], ''))
    })

  plan
    .command('delete')
    .description('Delete a plan that no account has.')
    .argument('<name>', 'name of the plan', parseName)
    .example('tributary plan delete trial')
    .action(async (name: string) => {
      const { postgres } = await context.openStores()
      const outcome = await deletePlan(postgres, name)
      if (outcome === 'missing') throw await noSuchPlan(postgres, name)
      if (outcome === 'in use')
        throw new CommandError(`plan ${name} is the plan of an account (see: account list); use: account set-plan.`)
      context.print({ name }, `Deleted plan ${name}.`)
    })
}

/** Adds the name of a plan and an option for each limit. */
function withLimits(command: Command): Command {
  const months = wholeNumberFrom(0, retainedMonthsMax)
  return command
    .argument('<name>', 'name of the plan', parseName)
    .option(
      '--click-allowance <n>',
      'tracked clicks per UTC month; 20 times as many events are stored',
      wholeNumberFrom(0),
    )
    .option('--requests-per-minute <n>', 'per key, all endpoints except events', wholeNumberFrom(1))
    .option('--events-per-minute <n>', 'per key', wholeNumberFrom(1))
    .option('--identifier-events-per-minute <n>', 'per click or visitor', wholeNumberFrom(1))
    .option(
      '--retained-click-months <n>',
      'remove clicks after whole UTC months; 0 retains all (see: retention)',
      months,
    )
    .option('--retained-event-months <n>', 'the same for events', months)
}

/** Returns the error of a plan that does not exist; it lists the plans. */
async function noSuchPlan(postgres: Postgres, name: string): Promise<CommandError> {
  const names = (await listPlans(postgres)).map((plan) => plan.name)
  return new CommandError(`no such plan: ${name}; plans: ${names.join(', ') || 'none'}.`)
}

/** @throws CommandError that lists the plans, if it does not exist */
export async function requirePlan(postgres: Postgres, name: string): Promise<void> {
  if (!(await listPlans(postgres)).some((plan) => plan.name === name)) throw await noSuchPlan(postgres, name)
}
