import type { Command, CommandContext } from './context.ts'
import { type DemoTallies, fillDemo } from './demoData/fill.ts'
import { demoOf } from './demoData/visits.ts'
import { explainOutage } from './errors.ts'
import { accountOption, wholeNumberFrom } from './options.ts'
import { showProgress } from './progress.ts'

export const demoDefaults = { clicks: 200_000, days: 90, seed: 1 } as const

/** bench/data.ts generates larger numbers inside ClickHouse. */
export const clicksMax = 10_000_000

export function addDemoCommand(program: Command, context: CommandContext): void {
  program
    .command('demo')
    .description(
      'Fill an account with generated clicks, conversions, pixel events and metadata; equal seeds give equal rows.',
    )
    .addOption(accountOption())
    .option('--clicks <count>', 'approximate number of clicks', wholeNumberFrom(1, clicksMax), demoDefaults.clicks)
    .option('--days <count>', 'number of UTC days, including today', wholeNumberFrom(1, 366), demoDefaults.days)
    .option('--seed <number>', 'seed of the random generator', wholeNumberFrom(0), demoDefaults.seed)
    .notes(`
No row is in the future. Run it again on the next day to add a day; running it again on the same day adds few rows or none.

Example:
  tributary account create --name Demo --id playground
  tributary demo --account playground --clicks 20000`)
    .action(async ({ account: id, ...size }: { account: string; clicks: number; days: number; seed: number }) => {
      const { stores, account } = await context.openAccount(id)
      const demo = demoOf({ ...size, nowMs: Date.now(), currency: account.currency })
      const progress = showProgress(context)
      const filling = fillDemo(stores, account, demo, progress).finally(progress.end)
      const tallies = await filling.catch((error) => {
        throw explainOutage(error, context.interrupted, 'Run it again to complete it.')
      })
      context.print({ account: id, seed: size.seed, days: size.days, ...tallies }, filledSentence(tallies))
    })
}

export function filledSentence(tallies: DemoTallies): string {
  const counts = (['clicks', 'conversions', 'pixel-events', 'campaigns'] as const).map(
    (resource) => `${tallies[resource].inserted.toLocaleString('en')} ${resource.replace('-', ' ')}`,
  )
  const known = tallies.clicks.duplicates
  return `${counts.join(', ')} added${known > 0 ? `; ${known.toLocaleString('en')} clicks already existed` : ''}.`
}
