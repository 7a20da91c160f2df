import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../problem.ts'
import { tryLease } from '../../stores/postgres/lease.ts'
import { accountsWithUnfinishedWork } from '../accountTasks.ts'
import { openWriterIfFree } from '../open.ts'
import type { Writer } from '../writer.ts'

/** Held by the one instance that looks for interrupted imports. */
const recoveryLease = 'recovery'

/** How long a leftover of an interrupted import stays before a running server looks for it, in milliseconds. */
const intervalDefaultMs = 60_000

/** Where the results of a recovery go. */
export interface RecoveryLog {
  info(line: string): void
  warn(line: string): void
}

/**
 * Completes what interrupted imports of any account left, now and then after each interval, until it is stopped. An account
 * that another writer holds is left to that writer; a failure is logged, and tried again at the next interval.
 * @returns stops it; resolves when the step in progress has ended
 */
export function startRecovery(
  stores: Writer['stores'],
  log: RecoveryLog,
  intervalMs = intervalDefaultMs,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = repeat()
  return async () => {
    stopping.abort(new Error('The server stops.'))
    await running
  }

  async function repeat(): Promise<void> {
    while (!signal.aborted) {
      await recoverAccounts(stores, log, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.warn(`Looking for interrupted imports failed and is tried again at the next check: ${reason(error)}`)
      })
      await pause(intervalMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}

/**
 * Completes what interrupted imports of any account left, once. Only one instance does so at a time; an account that has
 * a writer right now is skipped, so no writer waits longer than the repair of its own account takes.
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
      await recoverAccount(stores, accountId, log, signal)
    }
  } finally {
    await lease.release()
  }
}

/** A failure that concerns one account does not keep the others waiting. */
async function recoverAccount(
  stores: Writer['stores'],
  accountId: string,
  log: RecoveryLog,
  signal: AbortSignal,
): Promise<void> {
  try {
    const opened = await openWriterIfFree(stores, accountId, { onMessage: () => {}, signal })
    if (!opened) return
    await opened.writer.close()
    const { batches, attributed } = opened.recovered
    if (batches + attributed === 0) return
    log.info(
      `Account ${accountId}: completed an interrupted import; batches repaired: ${batches}, conversions attributed: ${attributed}.`,
    )
  } catch (error) {
    if (signal.aborted || (error instanceof Problem && error.status === 503)) throw error
    log.warn(
      `Account ${accountId}: completing an interrupted import failed and is tried again at the next check: ${reason(error)}`,
    )
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
