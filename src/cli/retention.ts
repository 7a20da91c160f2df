import { listRetention, type Retention, retainedBy, setRetention } from '../accounts/retention.ts'
import { ch, instant } from '../stores/clickhouse/sql.ts'
import type { RetainedRanges } from '../stores/postgres/retainedRanges.ts'
import { WriteRefused } from '../writer/fence/session.ts'
import { agedTables, retainedMsOf } from '../writer/retention/removedRows.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { accountOption, parseId, parserOf, retainedMonthsMax } from './options.ts'
import { addRemovalOptions, countByMonth, mayRemove, type RemovalOptions } from './removal.ts'
import { removeOldMonths } from './retentionJob.ts'
import { table } from './table.ts'

export function addRetentionCommands(program: Command, context: CommandContext): void {
  const retention = program
    .command('retention')
    .description('Manage how long clicks, costs and events are retained; conversions and all sums remain.')

  addRemovalOptions(retention.command('set'))
    .description('Set how long an account retains clicks and events.')
    .addOption(accountOption())
    .option('--clicks <months>', '13mo, off (retain all) or plan (as its plan: see plan set)', parseMonths)
    .option('--events <months>', 'the same for events', parseMonths)
    .notes(`
Rows of whole UTC months are removed once they are older: with 13mo, the 13 months before the present one and the present one
remain. Every month remains for 31 days after its end, because events may be 30 days old when they arrive. A running server removes them within an hour; retention run removes them at once. Removed rows can't be brought back:
a longer retention applies to later rows.`)
    .example('tributary retention set --account acme --clicks 13mo --events 13mo')
    .action(async ({ account, clicks, events, ...options }: SetOptions) => {
      if (clicks === undefined && events === undefined)
        throw new UsageError('retention set requires --clicks or --events.')
      const { postgres } = (await context.openAccount(account)).stores
      const [clickMonths, eventMonths] = [clicks, events].map((months) => (months === 'plan' ? null : months))
      const setting = { clickMonths, eventMonths }
      const wanted = await listRetention(postgres, account, setting)
      if (!(await mayRemove(context, options, wanted, (one) => countRemoved(context, one)))) return
      await setRetention(postgres, account, setting)
      printRetention(context, await listRetention(postgres, account))
    })

  retention
    .command('list')
    .description('List how long accounts retain rows, and from when rows are left.')
    .option('--account <id>', 'only this account (default: all)', parseId)
    .example('tributary retention list')
    .action(async ({ account }: { account?: string }) => {
      if (account !== undefined) await context.openAccount(account)
      printRetention(context, await listRetention((await context.openStores()).postgres, account))
    })

  addRemovalOptions(retention.command('run'))
    .description('Remove the rows that accounts no longer retain, as a running server does once an hour.')
    .option('--account <id>', 'only this account (default: all)', parseId)
    .notes(`
Imports into an account wait until its rows are removed. Nothing is removed if sums of the account do not agree with the rows.
If the command is interrupted, a running server completes the removal within a minute, as does the same command.`)
    .example('tributary retention run --account acme')
    .action(({ account, ...options }: RemovalOptions & { account?: string }) => runRetention(context, account, options))
}

async function runRetention(context: CommandContext, accountId: string | undefined, options: RemovalOptions) {
  const stores = await context.openStores()
  if (accountId !== undefined) await context.openAccount(accountId)
  const retentions = await listRetention(stores.postgres, accountId)
  if (!(await mayRemove(context, options, retentions, (one) => countRemoved(context, one)))) return
  const removed = []
  const failures: string[] = []
  for (const { accountId: account } of retentions.filter(removesRows)) {
    try {
      const result = await context.withWriter(account, (writer) => removeOldMonths(writer, Date.now()))
      if (result) removed.push({ account, ...result.removed, ...textsOf(result.retained) })
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error
      failures.push(error.message)
    }
  }
  context.print({ accounts: removed }, table(removed, 'No months to remove.'))
  if (failures.length > 0) throw new CommandError(failures.join(' '))
}

/** Counts the rows that an account no longer retains. */
function countRemoved(context: CommandContext, retention: Retention) {
  const retained = retainedBy(retention, Date.now())
  const isRemoved = agedTables.map(({ name, resource, at }) => {
    return [name, ch`${at} < ${instant(retainedMsOf(resource, retained))}`] as const
  })
  return countByMonth(context, retention.accountId, Object.fromEntries(isRemoved))
}

/** Whether rows are removed, or an earlier removal may be incomplete: other accounts are not delayed. */
function removesRows({ clickMonths, eventMonths, retained }: Retention): boolean {
  return clickMonths > 0 || eventMonths > 0 || retained.clicksMs > 0 || retained.eventsMs > 0
}

function printRetention(context: CommandContext, accounts: readonly Retention[]): void {
  const rows = accounts.map(({ accountId: account, clickMonths, eventMonths, retained }) => {
    const [clicks, events] = [settingOf(clickMonths), settingOf(eventMonths)]
    return { account, clicks, events, ...textsOf(retained) }
  })
  context.print({ accounts: rows }, table(rows, 'No accounts.'))
}

/** Days from which rows are left; null: nothing has been removed. */
function textsOf({ clicksMs, eventsMs }: RetainedRanges) {
  const day = (ms: number) => (ms === 0 ? null : new Date(ms).toISOString().slice(0, 10))
  return { clicksFrom: day(clicksMs), eventsFrom: day(eventsMs) }
}

const settingOf = (months: number): string => (months === 0 ? 'off' : `${months}mo`)

type SetOptions = RemovalOptions & { account: string; clicks?: Months; events?: Months }

/** Months; 0 for off. The plan is not null, which commander would replace by an empty text. */
type Months = number | 'plan'

const parseMonths = parserOf((text): Months | undefined => {
  if (text === 'plan') return text
  if (text === 'off') return 0
  const months = Number(/^([1-9]\d{0,3})mo$/.exec(text)?.[1])
  return months <= retainedMonthsMax ? months : undefined
}, `Use 1mo to ${retainedMonthsMax}mo, off or plan.`)
