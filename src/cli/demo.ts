import type { Command } from 'commander'
import { type DemoTallies, fillDemo } from '../demo/fill.ts'
import { planDemo } from '../demo/visits.ts'
import { Problem } from '../problem.ts'
import { LeaseLost } from '../stores/postgres/lease.ts'
import { parseId, requireAccount } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { wholeNumberFrom } from './options.ts'
import { openProgress } from './progress.ts'

/** What a demo holds unless told otherwise. */
export const demoDefaults = { clicks: 200_000, days: 90, seed: 1 } as const

/** More are made inside ClickHouse: see bench/data.ts. */
export const clicksMax = 10_000_000

/** `demo`: made-up rows of everything, into any account. */
export function addDemoCommand(program: Command, context: CommandContext): void {
  program
    .command('demo')
    .description(
      'Fill an account with made-up clicks, conversions, pixel events and names; the same seed, the same rows.',
    )
    .requiredOption('--account <id>', 'the account', parseId)
    .option('--clicks <count>', 'about how many clicks', wholeNumberFrom(1, clicksMax), demoDefaults.clicks)
    .option('--days <count>', 'over how many UTC days, today included', wholeNumberFrom(1, 366), demoDefaults.days)
    .option('--seed <number>', 'another seed, other rows', wholeNumberFrom(0), demoDefaults.seed)
    .addHelpText(
      'after',
      `
Nothing lies in the future: run it again tomorrow, and a day is added. Running it again at once adds nothing.

Example:
  tributary account create --name Demo --id playground
  tributary demo --account playground --clicks 20000`,
    )
    .action((options: { account: string; clicks: number; days: number; seed: number }) => runDemo(context, options))
}

async function runDemo(
  context: CommandContext,
  { account: id, clicks, days, seed }: { account: string; clicks: number; days: number; seed: number },
): Promise<void> {
  const stores = await context.openStores()
  const account = await requireAccount(stores.postgres, id)
  const plan = planDemo({ clicks, days, seed, nowMs: Date.now(), currency: account.currency })
  const progress = openProgress()
  try {
    const tallies = await fillDemo(stores, account, plan, {
      onMessage: (line) => progress.printAbove(() => context.printStatus(line)),
      signal: context.interrupted,
      onProgress: progress.show,
    })
    progress.stop()
    context.print({ account: id, seed, days, ...tallies }, sentence(tallies))
  } catch (error) {
    progress.stop()
    throw asCommandError(error, context.interrupted)
  }
}

/** What was added, in a sentence. */
export function sentence(tallies: DemoTallies): string {
  const counts = (['clicks', 'conversions', 'pixel-events', 'campaigns'] as const).map(
    (resource) => `${tallies[resource].inserted.toLocaleString('en')} ${resource.replace('-', ' ')}`,
  )
  const known = tallies.clicks.duplicates
  return `${counts.join(', ')} added${known > 0 ? `; ${known.toLocaleString('en')} clicks were there` : ''}.`
}

function asCommandError(error: unknown, interrupted: AbortSignal): unknown {
  const again = 'Running it again completes it.'
  if (interrupted.aborted) return new CommandError(`interrupted. ${again}`)
  if (error instanceof LeaseLost) return new CommandError(error.message)
  if (error instanceof Problem && error.status === 503) return new CommandError(`a store stays away. ${again}`)
  return error
}
