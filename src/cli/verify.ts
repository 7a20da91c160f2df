import type { Command } from 'commander'
import { listAccounts } from '../accounts/accounts.ts'
import type { Stores } from '../stores/open.ts'
import { readLeftovers } from '../writer/journal.ts'
import { openIdleWriter } from '../writer/open.ts'
import { compareAccount } from '../writer/repair/compare.ts'
import { type Difference, type LostRows, lineOf } from '../writer/repair/difference.ts'
import { repairAccount } from '../writer/repair/repairDifferences.ts'
import { setConfirmedRows } from '../writer/storedRows.ts'
import type { Writer } from '../writer/writer.ts'
import { parseId, requireAccount } from './account.ts'
import type { CommandContext } from './context.ts'
import { CommandError } from './errors.ts'

interface Options {
  account?: string
  repair?: boolean
  acceptMissing?: boolean
}

/** `verify`: whether the rows are all there, each once, and every sum and index is what they say. */
export function addVerifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .description(
      'Compare the rows with what was stored, and every sum and index with the rows; exit 1 on a difference.',
    )
    .option('--account <id>', 'only this account', parseId)
    .option('--repair', 'repair what differs, while reads go on; missing rows are only reported')
    .option(
      '--accept-missing',
      'accept the present number of rows, as after a restore; reports no row before it as missing',
    )
    .addHelpText(
      'after',
      `
It takes turns with imports into the account. Rows are missing when ClickHouse has fewer than it confirmed: import their
files again, or restore a backup, then run it with --accept-missing.

Examples:
  tributary verify
  tributary verify --account acme --repair
  tributary verify --account acme --accept-missing`,
    )
    .action((options: Options) => verify(context, options))
}

async function verify(
  context: CommandContext,
  { account, repair = false, acceptMissing = false }: Options,
): Promise<void> {
  const stores = await context.openStores()
  const accounts =
    account === undefined ? await listAccounts(stores.postgres) : [await requireAccount(stores.postgres, account)]
  const found: Difference[] = []
  let left: Difference[] = []
  try {
    for (const { id } of accounts) {
      await withWriter(context, stores, id, async (writer) => {
        const differences = await compareAccount(writer)
        found.push(...differences)
        if (!repair) await reportLeftovers(writer)
        left.push(...(repair ? await repairAccount(writer, differences) : differences))
        if (acceptMissing) left = await acceptMissingRows(writer, left)
      })
    }
  } catch (error) {
    for (const difference of found) context.printStatus(lineOf(difference))
    throw error
  }
  const isRepaired = repair && left.length === 0
  context.print(
    { accounts: accounts.length, differences: found, repaired: isRepaired },
    [...found.map(lineOf), summary(accounts.length, found.length, isRepaired)].join('\n'),
  )
  if (left.length > 0) throw new CommandError(adviceOn(left, repair))
}

/** @returns the differences that are left: all but missing rows of the account */
async function acceptMissingRows(writer: Writer, differences: readonly Difference[]): Promise<Difference[]> {
  const isAccepted = (one: Difference): one is Difference & LostRows =>
    one.accountId === writer.accountId && one.kind === 'missing_rows'
  for (const { table, month, stored } of differences.filter(isAccepted)) {
    await setConfirmedRows(writer, table, [{ month, rows: stored }])
  }
  return differences.filter((one) => !isAccepted(one))
}

function adviceOn(left: readonly Difference[], repair: boolean): string {
  const isMissing = left.some(({ kind }) => kind === 'missing_rows')
  const isOther = left.some(({ kind }) => kind !== 'missing_rows')
  return [
    ...(repair ? [`${left.length} of them could not be repaired.`] : []),
    ...(isMissing
      ? ['Rows are missing: import their files again or restore a backup, then run it with --accept-missing.']
      : []),
    ...(isOther && !repair ? ['Run it with --repair to repair the rest.'] : []),
  ].join(' ')
}

/** Runs a piece of work while nobody else writes the account. Unlike an import it mends nothing on its way in. */
async function withWriter(
  { interrupted, printStatus: say }: CommandContext,
  stores: Stores,
  accountId: string,
  work: (writer: Writer) => Promise<void>,
): Promise<void> {
  const writer = await openIdleWriter(stores, accountId, { onMessage: say, signal: interrupted })
  try {
    await work(writer)
  } finally {
    await writer.close()
  }
}

async function reportLeftovers(writer: Writer): Promise<void> {
  const leftovers = await readLeftovers(writer)
  if (leftovers.length === 0) return
  writer.onMessage(
    `An import into account ${writer.accountId} was cut short; its next import, or --repair, brings its days in order.`,
  )
}

function summary(accounts: number, differences: number, repaired: boolean): string {
  const looked = `${accounts} ${accounts === 1 ? 'account' : 'accounts'} compared`
  if (differences === 0) return `${looked}: every sum and index is what the rows say.`
  return `${looked}: ${differences} ${differences === 1 ? 'difference' : 'differences'}${repaired ? ', repaired' : ''}.`
}
