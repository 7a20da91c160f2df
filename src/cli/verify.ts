import { listAccounts } from '../accounts/accounts.ts'
import { causeOf, ExpectedError } from '../expectedError.ts'
import { type Damage, DamagedData } from '../stores/clickhouse/damagedData.ts'
import { type DamagedPart, findDamagedParts, mayHaveRowsOf } from '../stores/clickhouse/damagedParts.ts'
import { nodesOf } from '../stores/cluster/connection.ts'
import { retryWhileUnavailable } from '../stores/timing/retry.ts'
import type { Writer } from '../writer/fence/session.ts'
import { type MissingRows, setConfirmedRows } from '../writer/journal/confirmedRows.ts'
import { readLeftovers } from '../writer/journal/journal.ts'
import {
  adviceOn,
  type Difference,
  describeDifference,
  findDifferences,
  repairDifferences,
} from '../writer/repair/differences.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { parseId } from './options.ts'

type Options = { account?: string; repair?: boolean; acceptMissing?: boolean }

export function addVerifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .description('Check stored rows, and compare every sum and index with them; exit with 1 on a difference.')
    .option('--account <id>', 'only this account (default: all)', parseId)
    .option('--repair', 'repair differences while reads continue; what no database can correct is only reported')
    .option('--accept-missing', 'accept the current number of rows; earlier losses are no longer reported')
    .notes(`
Imports into the account wait until verify has finished, and vice versa. Rows are missing if ClickHouse has fewer rows than it
confirmed: import their files again or restore a backup, then run verify with --accept-missing. If no click of a month is left, its
sums and ids of clicks remain until verify with --accept-missing --repair: Postgres may not know that these clicks were removed.

Examples:
  tributary verify
  tributary verify --account acme --repair
  tributary verify --account acme --accept-missing --repair`)
    .action(async (options: Options) => {
      const advice = await verifyAccounts(context, options)
      if (advice !== undefined) throw new CommandError(advice)
    })
}

/** Compares accounts, repairs them on request, and prints the result. @returns what to do about the remaining differences, if any */
export async function verifyAccounts(context: CommandContext, options: Options): Promise<string | undefined> {
  const { account, repair = false, acceptMissing = false } = options
  const stores = await context.openStores()
  const accounts =
    account === undefined ? await listAccounts(stores.postgres) : [(await context.openAccount(account)).account]
  const found: Difference[] = []
  const remaining: Difference[] = []
  const damagedParts = await readDamagedParts(context)
  const addDamage = (accountId: string, { table, path, reason }: Damage) => {
    const difference = { kind: 'damaged', accountId, table, path, reason }
    found.push(difference)
    remaining.push(difference)
  }
  try {
    for (const { id } of accounts) {
      const verifyAccount = async (writer: Writer) => {
        const damaged = []
        for (const part of damagedParts) if (await mayHaveRowsOf(id, part)) damaged.push(part)
        for (const part of damaged) addDamage(id, part)
        if (damaged.length > 0) return
        const differences = await findDifferences(writer)
        found.push(...differences)
        if (!repair && (await readLeftovers(writer, [id])).length > 0)
          context.printStatus(
            `An import into account ${id} was interrupted; a server, an import or --repair completes it.`,
          )
        const left = acceptMissing ? await acceptMissingRows(writer, differences) : differences
        remaining.push(...(repair ? await repairDifferences(writer, left) : left))
      }
      // Interrupted imports are reported; only a repair completes them.
      await context.withWriter(id, verifyAccount, 'wait').catch((error) => {
        if (!(error instanceof DamagedData)) throw error
        addDamage(id, error.damage)
      })
    }
  } catch (error) {
    for (const difference of found) context.printStatus(describeDifference(difference))
    throw error
  }
  const isRepaired = repair && remaining.length === 0
  context.print(
    { accounts: accounts.length, differences: found, repaired: isRepaired },
    [...found.map(describeDifference), summary(accounts.length, found.length, isRepaired)].join('\n'),
  )
  return remaining.length > 0 ? adviceOn(remaining, repair) : undefined
}

/** @returns the damaged parts of all tables; none without the grant */
async function readDamagedParts(context: CommandContext): Promise<DamagedPart[]> {
  const { clickhouse } = await context.openStores()
  const { interrupted: signal, printStatus: onMessage } = context
  const read = async () => {
    const parts: DamagedPart[] = []
    for await (const part of findDamagedParts(nodesOf(clickhouse), 0, signal)) parts.push(part)
    return parts
  }
  return await retryWhileUnavailable('reading files', read, { signal, onMessage }).catch((error) => {
    if (error instanceof ExpectedError) throw error
    onMessage(`warning: files were not compared with their checksums: ${causeOf(error)}.`)
    return []
  })
}

/**
 * Accepts missing rows. It runs before a repair: a repair does not change the sums of a month while all its clicks are missing.
 * @returns all differences except missing rows
 */
async function acceptMissingRows(writer: Writer, differences: readonly Difference[]): Promise<Difference[]> {
  const isAccepted = (one: Difference): one is Difference & MissingRows => one.kind === 'missing_rows'
  for (const { table, month, stored } of differences.filter(isAccepted)) {
    await setConfirmedRows(writer, table, [{ month, rows: stored }])
  }
  return differences.filter((one) => !isAccepted(one))
}

function summary(accounts: number, differences: number, repaired: boolean): string {
  const compared = `${accounts} ${accounts === 1 ? 'account' : 'accounts'} compared`
  if (differences === 0) return `${compared}: every sum and index agrees with the rows.`
  return `${compared}: ${differences} ${differences === 1 ? 'difference' : 'differences'}${repaired ? ', repaired' : ''}.`
}
