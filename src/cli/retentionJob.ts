import { auditClause } from '../accounts/audit.ts'
import { hasRetention, listRetention, type Retention, retainedBy } from '../accounts/retention.ts'
import { tryLease } from '../stores/postgres/lease.ts'
import { reasonOf, runPeriodically } from '../stores/timing/periodic.ts'
import type { Writer } from '../writer/fence/session.ts'
import { tryWithWriter } from '../writer/openWriter.ts'
import { removeMonths } from '../writer/removeMonths.ts'
import { readLastStoredMs } from '../writer/retention/removedRows.ts'
import type { RecoveryLog } from '../writer/serverRecovery.ts'

/** Held by the only instance that currently removes months. */
const retentionLease = 'retention'

/** Time between two checks, in milliseconds: most find nothing, since months are removed once a month. */
const intervalMs = 3_600_000

/**
 * Removes the rows that the writer's account no longer retains.
 * @param nowMs the clock of this process
 * @param announceMs for `removeMonths`
 * @returns what was removed, and from when rows are left; undefined when there was nothing to remove
 * @throws what `removeMonths` throws
 */
export async function removeOldMonths(writer: Writer, nowMs: number, announceMs?: number) {
  const [setting] = await listRetention(writer.stores.postgres, writer.accountId)
  if (!setting || !isDue(setting, nowMs)) return undefined
  const retained = retainedBy(setting, nowMs)
  const removed = await removeMonths(writer, retained, {
    audit: (postgres) => auditClause(postgres, 'retention.remove')`
      SELECT account_id, jsonb_build_object('rows', resource, 'retainedFrom', retained_from) FROM recorded`,
    isDue: (postgres) => hasRetention(postgres, setting),
    announceMs,
  })
  return removed && { removed, retained }
}

function isDue(setting: Retention, nowMs: number): boolean {
  const { clicksMs, eventsMs } = retainedBy(setting, nowMs)
  return clicksMs > setting.retained.clicksMs || eventsMs > setting.retained.eventsMs
}

/**
 * Removes old months of all accounts, at once and then every hour, until it is stopped. Only one instance does so at a time.
 * An account with an active writer is left to the next check, unless the writer is a feed, which yields it; a failure is logged.
 * @param now the current time, epoch milliseconds
 * @returns function that stops it and resolves when the current step has ended
 */
export function startRetention(stores: Writer['stores'], log: RecoveryLog, now: () => number): () => Promise<void> {
  return runPeriodically(
    (signal) => removeOldMonthsOfAll(stores, log, now(), signal),
    (reason) => log.warn(`Removing old months failed; retrying in an hour. ${reason}`),
    intervalMs,
  )
}

/**
 * Removes old months of all accounts, as of the latest row of each at most; once, unless another instance does so.
 * @throws Problem `unavailable` when a store stays unavailable, or the reason of `signal`
 */
export async function removeOldMonthsOfAll(
  stores: Writer['stores'],
  log: RecoveryLog,
  nowMs: number,
  signal: AbortSignal,
  announceMs?: number,
): Promise<void> {
  const due = (await listRetention(stores.postgres)).filter((setting) => isDue(setting, nowMs))
  if (due.length === 0) return
  const lease = await tryLease(stores.postgres, retentionLease)
  if (!lease) return
  try {
    for (const { accountId } of due) {
      signal.throwIfAborted()
      const removal = tryWithWriter(stores, accountId, { onMessage: () => {}, signal }, async (writer) => {
        // A machine may boot with a clock that is years ahead, which may be the clock of Postgres too. Cost: an account that
        // stores nothing any longer keeps its rows.
        const lastMs = await readLastStoredMs(writer)
        const result = await removeOldMonths(writer, Math.min(nowMs, lastMs), announceMs)
        if (!result) return
        const { clicks, events } = result.removed
        log.info(`Account ${accountId}: removed old months; clicks removed: ${clicks}, events removed: ${events}.`)
      })
      // A failure that concerns only this account.
      await removal.catch((error) => {
        if (signal.aborted) throw error
        log.warn(`Account ${accountId}: removing old months failed; retrying in an hour. ${reasonOf(error)}`)
      })
    }
  } finally {
    await lease.release()
  }
}
