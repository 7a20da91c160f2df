import type { PendingQuery, Row } from 'postgres'
import { v7 as uuidv7 } from 'uuid'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { auditClause } from './audit.ts'

/** A customer; owner of rows and API keys. */
export interface Account {
  id: string
  name: string
  plan: string
  /** ISO 4217. */
  currency: string
  createdAt: Date
}

interface NewAccount extends Omit<Account, 'id' | 'createdAt'>, Partial<Pick<Account, 'id' | 'createdAt'>> {
  /** SHA-256 of the manifest of an import, until `storeKeys` ends it. */
  importOf?: string
  /** Whole UTC months. */
  retention?: { clickMonths: number | null; eventMonths: number | null }
}

/** Creates an account; undefined when the id exists or was deleted, or there is no such plan. */
export async function createAccount(postgres: Postgres, values: NewAccount): Promise<Account | undefined> {
  const [account] = await queryPostgres(postgres<Account[]>`
    WITH created AS (
      INSERT INTO accounts (id, name, plan, currency, created_at, import_of, retained_click_months, retained_event_months)
      SELECT ${values.id ?? uuidv7()}, ${values.name}, plans.name, ${values.currency},
        COALESCE(${values.createdAt ?? null}::timestamptz, now()), ${values.importOf ?? null}::text,
        ${values.retention?.clickMonths ?? null}::smallint, ${values.retention?.eventMonths ?? null}::smallint
      FROM plans
      WHERE plans.name = ${values.plan}
        AND NOT EXISTS (SELECT FROM account_deletions WHERE account_id = ${values.id ?? null}::text)
      ON CONFLICT (id) DO NOTHING
      RETURNING *),
    ${auditClause(postgres, 'account.create')`
      SELECT id, jsonb_build_object('name', name, 'plan', plan, 'currency', currency)
      FROM created`}
    SELECT id, name, plan, currency, created_at AS "createdAt"
    FROM created`)
  return account
}

/** @returns all accounts, oldest first */
export async function listAccounts(postgres: Postgres): Promise<Account[]> {
  return await readAccounts(postgres, postgres`true`)
}

/** @returns accounts that have clicks, but have stored none for a time, the longest without first */
export async function listStaleAccounts(postgres: Postgres, staleMs: number) {
  return await queryPostgres(postgres<(Account & { lastStoredAt: Date })[]>`
    SELECT id, name, plan, currency, created_at AS "createdAt", last_row_at AS "lastStoredAt"
    FROM accounts
    JOIN watermarks ON account_id = id AND resource = 'clicks'
    WHERE last_row_at < clock_timestamp() - ${staleMs / 1000} * interval '1 second' AND ${isNotDeleted(postgres)}
    ORDER BY last_row_at, id`)
}

/** @returns the account with this id if its import from this manifest was interrupted; otherwise undefined */
export async function findInterruptedImport(postgres: Postgres, id: string, importOf: string) {
  return (await readAccounts(postgres, postgres`id = ${id} AND import_of = ${importOf}`))[0]
}

/** @returns the account with this id, undefined if it does not exist */
export async function findAccount(postgres: Postgres, id: string): Promise<Account | undefined> {
  return (await findAccounts(postgres, [id]))[0]
}

/** @returns the accounts that exist, of any number of ids */
export async function findAccounts(postgres: Postgres, ids: readonly string[]): Promise<Account[]> {
  return await readAccounts(postgres, postgres`id = ANY(${[...ids]}::text[])`)
}

async function readAccounts(postgres: Postgres, condition: PendingQuery<Row[]>): Promise<Account[]> {
  return await queryPostgres(postgres<Account[]>`
    SELECT id, name, plan, currency, created_at AS "createdAt"
    FROM accounts
    WHERE ${condition} AND ${isNotDeleted(postgres)}
    ORDER BY created_at, id`)
}

/** Changes the plan of an account; all instances apply it within 5 seconds. @returns undefined when account or plan does not exist */
export async function setPlanOfAccount(postgres: Postgres, id: string, plan: string): Promise<Account | undefined> {
  const [account] = await queryPostgres(postgres<Account[]>`
    WITH previous AS (
      SELECT id, plan
      FROM accounts
      WHERE id = ${id} AND ${isNotDeleted(postgres)}
      FOR UPDATE),
    changed AS (
      UPDATE accounts
      SET plan = plans.name
      FROM plans, previous
      WHERE accounts.id = previous.id AND plans.name = ${plan}
      RETURNING accounts.*, previous.plan AS plan_before),
    ${auditClause(postgres, 'account.set_plan')`
      SELECT id, jsonb_build_object('plan', plan, 'before', jsonb_build_object('plan', plan_before))
      FROM changed
      WHERE plan <> plan_before`}
    SELECT id, name, plan, currency, created_at AS "createdAt"
    FROM changed`)
  return account
}

/** A condition on `accounts`: its deletion has not begun. */
export function isNotDeleted(postgres: Postgres): PendingQuery<Row[]> {
  return postgres`NOT EXISTS (SELECT FROM account_deletions WHERE account_id = accounts.id)`
}
