import { hostname, userInfo } from 'node:os'
import type { ParameterOrFragment } from 'postgres'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'

export interface AuditEntry {
  at: Date
  /** `<resource>.<verb>`. */
  action: string
  /** The operating system user who ran the command, and the host: `deploy@api-1`. */
  actor: string
  /** Null when the change concerns no single account. */
  accountId: string | null
  /** New values, and in `before` the values that they replaced; never a secret. */
  details: Record<string, unknown>
}

/**
 * WITH clause that records changes in the audit log, for the statement that makes them: both are stored or neither.
 * @returns the tag of a query of `account_id` and `details` (jsonb), one row per change
 */
export function auditClause(postgres: Postgres, action: `${string}.${string}`) {
  return (changes: TemplateStringsArray, ...values: ParameterOrFragment<never>[]) => postgres`
    audited AS (
      INSERT INTO audit_log (action, actor, account_id, details)
      SELECT ${action}, ${readActor()}, change.account_id, change.details
      FROM (${postgres(changes, ...values)}) AS change (account_id, details))`
}

/** Conditions of entries; absent: any. */
export interface AuditFilter {
  accountId?: string
  /** As in entries, `deploy@api-1`, or only the user. */
  actor?: string
  /** Epoch milliseconds. */
  fromMs?: number
  /** Epoch milliseconds, exclusive. */
  untilMs?: number
}

/** @returns the entries that meet all conditions, oldest first; entries of a deleted account remain */
export async function listAuditEntries(postgres: Postgres, filter: AuditFilter): Promise<AuditEntry[]> {
  const {
    accountId = null,
    actor = null,
    fromMs = Number.NEGATIVE_INFINITY,
    untilMs = Number.POSITIVE_INFINITY,
  } = filter
  return await queryPostgres(postgres<AuditEntry[]>`
    SELECT at, action, actor, account_id AS "accountId", details
    FROM audit_log
    WHERE (${accountId}::text IS NULL OR account_id = ${accountId})
      AND (${actor}::text IS NULL OR ${actor} IN (actor, split_part(actor, '@', 1)))
      AND at >= to_timestamp(${fromMs / 1000}::float8) AND at < to_timestamp(${untilMs / 1000}::float8)
    ORDER BY id`)
}

/** A container may run as a user id without a name. */
function readActor(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.()}@${hostname()}`
  }
}
