import { isDeepStrictEqual } from 'node:util'
import type { Writer } from '../fence/session.ts'
import { isTaskOpen } from '../journal/accountTasks.ts'
import { type Finding, kinds } from './kinds.ts'
import { attributeWrongConversions } from './reattribution.ts'
import { recoverAccount } from './recoverAccount.ts'

/** A difference between what a table of an account has and what it should have, with the numbers of its kind. */
export interface Difference extends Finding {
  kind: string
  accountId: string
}

const kindOf = new Map(kinds.map((one) => [one.kind, one]))

/**
 * Compares the tables of an account with each other and with what was recorded. Under its lease no row is written meanwhile. Changes
 * one thing: months with more rows than were confirmed get the higher count.
 * @returns all differences, in the order of `kinds`
 */
export async function findDifferences(writer: Writer): Promise<Difference[]> {
  const { accountId } = writer
  const differences: Difference[] = []
  for (const { kind, find } of kinds) {
    differences.push(...((await find?.(writer)) ?? []).map((found) => ({ kind, accountId, ...found })))
  }
  return differences
}

/** One repair may reveal another difference: a click that was missing in the index may also be stored twice. */
const roundsMax = 3

/**
 * Corrects all repairable differences while reads continue. Sums and index of a month without any of its confirmed clicks
 * remain. A later writer or repair completes an interrupted one.
 * @param differences may be older than the recovery with which the repair begins: repairs are idempotent
 * @returns the remaining differences
 */
export async function repairDifferences(writer: Writer, differences: readonly Difference[]): Promise<Difference[]> {
  await recoverAccount(writer)
  let remaining = [...differences]
  for (let round = 0; round < roundsMax && remaining.some(isRepairable); round++) {
    const before = remaining
    for (const { kind, repair } of kinds) {
      const found = before.filter((difference) => difference.kind === kind)
      if (found.length > 0) await repair?.(writer, found)
    }
    // The removal of duplicate clicks leaves conversions to attribute.
    if (await isTaskOpen(writer, 'attribute_conversions')) await attributeWrongConversions(writer)
    remaining = await findDifferences(writer)
    // What remains is not repairable, or belongs to a month without any of its confirmed clicks.
    if (isDeepStrictEqual(remaining, before)) break
  }
  return remaining
}

const isRepairable = ({ kind }: Difference): boolean => kindOf.get(kind)?.repair !== undefined

/** @returns a readable line: account, table, day or month, and what differs */
export function describeDifference(difference: Difference): string {
  const { kind, accountId, table, day, month } = difference
  const place = [accountId, table, day ?? month?.slice(0, 7)].filter((part) => part !== undefined)
  return `${place.join(' ')}: ${kindOf.get(kind)?.line(difference)}`
}

/** @returns what the operator does about the remaining differences @param wasRepairTried whether a repair has left them */
export function adviceOn(remaining: readonly Difference[], wasRepairTried: boolean): string {
  const advice = kinds.flatMap(({ kind, advice }) =>
    advice && remaining.some((one) => one.kind === kind) ? [advice] : [],
  )
  if (wasRepairTried) return [`${remaining.length} of them could not be repaired.`, ...advice].join(' ')
  const repair = remaining.some(isRepairable) ? ['Run verify with --repair to repair the other differences.'] : []
  return [...advice, ...repair].join(' ')
}
