import { isUnavailable } from '../problem.ts'
import { tryLease } from '../stores/postgres/lease.ts'
import { reasonOf, runPeriodically } from '../stores/timing/periodic.ts'
import { claimAccounts } from './fence/claims.ts'
import type { Writer } from './fence/session.ts'
import { accountsWithUnfinishedWork } from './journal/accountTasks.ts'
import { tryOpenWriteSession, tryWithWriter } from './openWriter.ts'
import { recoverAccount, recoverImports } from './repair/recoverAccount.ts'
import { accountsOf } from './tables/accountKeys.ts'

/** Held by the only instance that currently completes interrupted work. */
const recoveryLease = 'recovery'

export type RecoveryLog = { info(line: string): void; warn(line: string): void }

/**
 * Runs `recoverAccounts` at once and after each interval; a failure is logged.
 * @returns function that stops it and resolves when the current step has ended
 */
export function startRecovery(stores: Writer['stores'], log: RecoveryLog, intervalMs = 60_000) {
  return runPeriodically(
    (signal) => recoverAccounts(stores, log, signal),
    (reason) => log.warn(`Checking for interrupted work failed; retrying at the next check. ${reason}`),
    intervalMs,
  )
}

/**
 * Completes interrupted work of all accounts, by one instance at a time. Accounts with an active writer are left to it.
 * @throws Problem `unavailable` when a store stays unavailable, or the reason of `signal`
 */
export async function recoverAccounts(stores: Writer['stores'], log: RecoveryLog, signal: AbortSignal): Promise<void> {
  const unfinished = await accountsWithUnfinishedWork(stores.postgres)
  if (unfinished.length === 0) return
  const lease = await tryLease(stores.postgres, recoveryLease)
  if (!lease) return
  try {
    const imports = unfinished.filter(({ isImport }) => isImport).map(({ accountId }) => accountId)
    const isTogether = imports.length > 1 && (await completeImports(stores, imports, log, signal))
    for (const { accountId, isImport } of unfinished) {
      signal.throwIfAborted()
      if (!(isImport && isTogether)) await completeWorkOf(stores, accountId, log, signal)
    }
  } finally {
    await lease.release()
  }
}

/** Completes the imports of several accounts together. @returns false after a failure: each account must be completed alone */
async function completeImports(
  stores: Writer['stores'],
  accountIds: readonly string[],
  log: RecoveryLog,
  signal: AbortSignal,
): Promise<boolean> {
  const session = await tryOpenWriteSession(stores, { onMessage: () => {}, signal })
  if (!session) return true
  try {
    const claimed = accountsOf(await claimAccounts(session, accountIds))
    if (claimed.length === 0) return true
    const { batches, attributed } = await recoverImports(session, claimed)
    if (batches + attributed > 0)
      log.info(`Interrupted imports of ${claimed.length} accounts completed; ${repaired({ batches, attributed })}`)
    return true
  } catch (error) {
    if (signal.aborted || isUnavailable(error)) throw error
    log.warn(`Completing imports together failed; completing each account alone. ${reasonOf(error)}`)
    return false
  } finally {
    await session.close()
  }
}

function repaired({ batches, attributed }: { batches: number; attributed: number }): string {
  return `batches repaired: ${batches}, conversions attributed: ${attributed}.`
}

/** Logs a failure that concerns only this account, so that the others are still completed. */
async function completeWorkOf(stores: Writer['stores'], accountId: string, log: RecoveryLog, signal: AbortSignal) {
  try {
    const options = { onMessage: () => {}, signal, first: 'wait' } as const
    const recovered = await tryWithWriter(stores, accountId, options, recoverAccount)
    if (!recovered) return
    const { batches, attributed, erased, removed } = recovered
    if (erased > 0) log.info(`Account ${accountId}: completed an interrupted erasure; rows erased: ${erased}.`)
    if (removed > 0)
      log.info(`Account ${accountId}: completed an interrupted removal of months; rows removed: ${removed}.`)
    if (batches + attributed === 0) return
    log.info(`Account ${accountId}: completed an interrupted import; ${repaired({ batches, attributed })}`)
  } catch (error) {
    if (signal.aborted || isUnavailable(error)) throw error
    log.warn(`Account ${accountId}: completing interrupted work failed; retrying at the next check. ${reasonOf(error)}`)
  }
}
