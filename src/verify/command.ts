import type { Command } from 'commander'
import { listAccounts } from '../accounts/accounts.ts'
import { parseId, requireAccount } from '../cli/account.ts'
import type { Context } from '../cli/context.ts'
import { Failure } from '../cli/failure.ts'
import type { Stores } from '../stores/open.ts'
import { rebuildConversionTables } from '../writing/conversionTables.ts'
import { rebuildClickDays, wholeDays } from '../writing/days.ts'
import { leftoverBatches } from '../writing/ledger.ts'
import { openIdleWriter } from '../writing/open.ts'
import { recover } from '../writing/recover.ts'
import type { Writer } from '../writing/writer.ts'
import { compareAccount, type Difference } from './compare.ts'

/** `verify`: whether every sum and index is what the rows say. */
export function addVerifyCommand(program: Command, context: Context): void {
  program
    .command('verify')
    .description('Compare every rollup and index with the rows it was made of; exit 1 when one differs.')
    .option('--account <id>', 'only this account', parseId)
    .option('--repair', 'rebuild the days that differ, while reads go on')
    .addHelpText(
      'after',
      '\nIt takes turns with imports into the account. Examples:\n  tributary verify\n  tributary verify --account acme --repair',
    )
    .action((options: { account?: string; repair?: true }) => verify(context, options))
}

async function verify(context: Context, options: { account?: string; repair?: true }): Promise<void> {
  const stores = await context.openStores()
  const accounts =
    options.account === undefined
      ? await listAccounts(stores.postgres)
      : [await requireAccount(stores.postgres, options.account)]
  const repair = options.repair === true
  const found: Difference[] = []
  const left: Difference[] = []
  try {
    for (const { id } of accounts) {
      await inTurn(context, stores, id, async (writer) => {
        const differences = await compareAccount(writer)
        found.push(...differences)
        if (repair) left.push(...(await repairAccount(writer, differences)))
        else await tellOfLeftovers(writer)
      })
    }
  } catch (error) {
    for (const difference of found) context.say(lineOf(difference))
    throw error
  }
  context.print(
    { accounts: accounts.length, differences: found, repaired: repair && left.length === 0 },
    [...found.map(lineOf), summary(accounts.length, found.length, repair && left.length === 0)].join('\n'),
  )
  if (left.length > 0) throw new Failure(`${left.length} of them could not be repaired.`)
  if (found.length > 0 && !repair) throw new Failure('run it with --repair to rebuild those days.')
}

/** Runs a piece of work while nobody else writes the account. Unlike an import it mends nothing on its way in. */
async function inTurn(
  { interrupted, say }: Context,
  stores: Stores,
  accountId: string,
  work: (writer: Writer) => Promise<void>,
): Promise<void> {
  const writer = await openIdleWriter(stores, accountId, { say, signal: interrupted })
  try {
    await work(writer)
  } finally {
    await writer.close()
  }
}

/** @returns what still differs */
async function repairAccount(writer: Writer, differences: readonly Difference[]): Promise<Difference[]> {
  await recover(writer)
  const days = [...new Set(differences.flatMap(({ day }) => (day === null ? [] : [day])))]
  const stretches = days.map((day) => ({ firstMs: Date.parse(day), lastMs: Date.parse(day) }))
  for (const span of wholeDays(writer.accountId, stretches)) await rebuildClickDays(writer, span)
  if (differences.some(({ day }) => day === null)) await rebuildConversionTables(writer)
  return differences.length === 0 ? [] : await compareAccount(writer)
}

async function tellOfLeftovers(writer: Writer): Promise<void> {
  const leftovers = await leftoverBatches(writer)
  if (leftovers.length === 0) return
  writer.say(
    `An import into account ${writer.accountId} was cut short; its next import, or --repair, brings its days in order.`,
  )
}

function lineOf({ accountId, table, day, keys, sums }: Difference): string {
  const place = [accountId, table, day].filter(Boolean).join(' ')
  if (!sums) return `${place}: ${keys} rows missing, wrong or too much`
  const { stored, actual } = sums
  const unequal = (Object.keys(stored) as (keyof typeof stored)[]).filter((name) => stored[name] !== actual[name])
  const each = unequal.map((name) => `; ${name} ${stored[name]} stored, ${actual[name]} in the rows`)
  return `${place}: ${keys} sums differ${each.length > 0 ? each.join('') : '; those of the whole day do not'}`
}

function summary(accounts: number, differences: number, repaired: boolean): string {
  const looked = `${accounts} ${accounts === 1 ? 'account' : 'accounts'} compared`
  if (differences === 0) return `${looked}: every sum and index is what the rows say.`
  return `${looked}: ${differences} ${differences === 1 ? 'difference' : 'differences'}${repaired ? ', repaired' : ''}.`
}
