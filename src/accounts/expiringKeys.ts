import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { runPeriodically } from '../stores/timing/periodic.ts'
import { dayMs, hourMs } from '../stores/timing/units.ts'
import type { KeyRow } from './manageKeys.ts'

/** How long before its expiry a key is reported. */
const noticeMs = 7 * dayMs

type ExpiringKey = Pick<KeyRow, 'id' | 'accountId' | 'name'> & { expiresAt: Date }

/** Finds valid keys that expire within 7 days and are not replaced, the first to expire first. */
export async function listExpiringKeys(postgres: Postgres, nowMs: number): Promise<ExpiringKey[]> {
  return await queryPostgres(postgres<ExpiringKey[]>`
    SELECT id, account_id AS "accountId", name, expires_at AS "expiresAt"
    FROM api_keys
    WHERE revoked_at IS NULL AND replaced_by IS NULL
      AND expires_at > ${new Date(nowMs)}::timestamptz
      AND expires_at <= ${new Date(nowMs + noticeMs)}::timestamptz
    ORDER BY expires_at, id`)
}

/**
 * Warns of each key once, when it will expire within 7 days. @param now epoch milliseconds
 * @returns function that stops it and resolves when the current check has ended
 */
export function warnOfExpiringKeys(
  postgres: Postgres,
  warn: (line: string) => void,
  now: () => number,
  intervalMs = hourMs,
): () => Promise<void> {
  const reported = new Set<string>()
  return runPeriodically(
    async (signal) => {
      for (const { id, accountId, name, expiresAt } of await listExpiringKeys(postgres, now())) {
        if (signal.aborted || reported.has(id)) continue
        reported.add(id)
        warn(
          `Key ${id} (${name}) of account ${accountId} expires at ${expiresAt.toISOString()}; replace it with: tributary key rotate --id ${id} --grace 24h.`,
        )
      }
    },
    // Other lines of the log report a store that is unavailable.
    () => {},
    intervalMs,
  )
}
