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

/** @returns the entries of all accounts, or of one, oldest first; entries of a deleted account remain */
export async function listAuditEntries(postgres: Postgres, accountId?: string): Promise<AuditEntry[]> {
  return await queryPostgres(postgres<AuditEntry[]>`
    SELECT at, action, actor, account_id AS "accountId", details
    FROM audit_log
    WHERE ${accountId ?? null}::text IS NULL OR account_id = ${accountId ?? null}
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
