import { createInterface } from 'node:readline'
import { selectRows } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, join, text } from '../stores/clickhouse/sql.ts'
import { timeColumns } from '../stores/clickhouse/tableColumns.ts'
import type { Command, CommandContext } from './context.ts'
import { CommandError } from './errors.ts'
import { table } from './table.ts'

/** Options of a command that removes what cannot be brought back. */
export interface RemovalOptions {
  dryRun?: true
  confirm?: true | string
}

export function addDryRun(command: Command): Command {
  return command.option('--dry-run', 'print how many rows of each month would be removed, and remove none')
}

export function addRemovalOptions(command: Command): Command {
  return addDryRun(command).option('--confirm', 'do not ask on a terminal; without one the command never asks')
}

const countedTables = { clicks: 'clicks', conversions: 'conversions', costs: 'costs', events: 'pixel_events' } as const
type Counted = keyof typeof countedTables
const countedNames = Object.keys(countedTables) as Counted[]

/** Rows of an account in a UTC month. */
type MonthRows = { account: string; month: string } & Record<Counted, number>

/** By table, without the account. */
type Conditions = Readonly<Record<string, Fragment>>

/** Counts rows of an account by month. @param wheres absent: all rows */
export async function countByMonth(
  context: CommandContext,
  accountId: string,
  wheres?: Conditions,
): Promise<MonthRows[]> {
  const { clickhouse } = await context.openStores()
  const rows = countedNames.flatMap((name) => {
    const from = countedTables[name]
    const where = wheres ? wheres[from] : ch`1`
    if (!where) return []
    return ch`
  SELECT formatDateTime(${timeColumns[from]}, '%Y-%m') AS month, ${text(name)} AS resource
  FROM ${identifier(from)} FINAL
  WHERE account_id = ${text(accountId)} AND ${where}`
  })
  const counts = countedNames.map((name) => ch`countIf(resource = ${text(name)}) AS ${identifier(name)}`)
  const query = ch`
SELECT ${text(accountId)} AS account, month, ${join(counts)}
FROM (${join(rows, '\nUNION ALL\n')}
)
GROUP BY month
ORDER BY month`
  return await selectRows(clickhouse, query, { label: 'removal.count', settings: { max_execution_time: 600 } })
}

/**
 * Decides whether a command removes rows. With `--dry-run` it prints their counts. On a terminal it asks, unless `--confirm` is given or
 * there are none.
 * @param items what it removes, such as accounts @param countRows counts the rows of one, which a script does not wait for
 * @param answer what a person types; with another answer than `yes`, a person is also asked if there are no rows
 * @returns false for a dry run @throws CommandError when the answer is another one
 */
export async function mayRemove<Item>(
  context: CommandContext,
  { dryRun, confirm }: RemovalOptions,
  items: readonly Item[],
  countRows: (item: Item) => Promise<MonthRows[]>,
  answer = 'yes',
): Promise<boolean> {
  if (!dryRun && (confirm !== undefined || !context.stdin.isTTY)) return true
  const months: MonthRows[] = []
  for (const item of items) months.push(...(await countRows(item)))
  const counts = table(months, 'No such rows.')
  if (dryRun) context.print({ months }, counts)
  if (dryRun || (months.length === 0 && answer === 'yes')) return !dryRun
  context.printStatus(`${counts}\nThis cannot be undone. To continue, type ${answer}:`)
  if ((await readLine(context.stdin)) === answer) return true
  throw new CommandError('nothing was changed.')
}

/** @returns the next line; empty at the end */
async function readLine(input: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input })) return line.trim()
  return ''
}
