import { Problem } from '../problem.ts'
import { tryLease } from '../stores/postgres/lease.ts'
import { reasonOf, runPeriodically } from '../stores/timing/periodic.ts'
import type { Writer } from './fence/writer.ts'
import { accountsWithUnfinishedWork } from './journal/accountTasks.ts'
import { tryWriterLease, withWriter } from './openWriter.ts'
import { recoverAccount } from './repair/recoverAccount.ts'

/** Held by the only instance that currently completes interrupted work. */
const recoveryLease = 'recovery'

const intervalDefaultMs = 60_000

export interface RecoveryLog {
  info(line: string): void
  warn(line: string): void
}

/**
 * Runs `recoverAccounts` at once and after each interval; a failure is logged.
 * @returns function that stops it and resolves when the current step has ended
 */
export function startRecovery(
  stores: Writer['stores'],
  log: RecoveryLog,
  intervalMs = intervalDefaultMs,
): () => Promise<void> {
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
  const accounts = await accountsWithUnfinishedWork(stores.postgres)
  if (accounts.length === 0) return
  const lease = await tryLease(stores.postgres, recoveryLease)
  if (!lease) return
  try {
    for (const accountId of accounts) {
      signal.throwIfAborted()
      await completeWorkOf(stores, accountId, log, signal)
    }
  } finally {
    await lease.release()
  }
}

/** Logs a failure that concerns only this account, so that the others are still completed. */
async function completeWorkOf(
  stores: Writer['stores'],
  accountId: string,
  log: RecoveryLog,
  signal: AbortSignal,
): Promise<void> {
  try {
    const lease = await tryWriterLease(stores, accountId)
    if (!lease) return
    const options = { lease, onMessage: () => {}, signal, first: 'settle' } as const
    const { batches, attributed, erased, removed } = await withWriter(stores, accountId, options, recoverAccount)
    if (erased > 0) log.info(`Account ${accountId}: completed an interrupted erasure; rows erased: ${erased}.`)
    if (removed > 0)
      log.info(`Account ${accountId}: completed an interrupted removal of months; rows removed: ${removed}.`)
    if (batches + attributed === 0) return
    log.info(
      `Account ${accountId}: completed an interrupted import; batches repaired: ${batches}, conversions attributed: ${attributed}.`,
    )
  } catch (error) {
    if (signal.aborted || (error instanceof Problem && error.status === 503)) throw error
    log.warn(`Account ${accountId}: completing interrupted work failed; retrying at the next check. ${reasonOf(error)}`)
  }
}
