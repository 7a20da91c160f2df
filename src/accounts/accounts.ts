import { v7 as uuidv7 } from 'uuid'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'

/** One customer: whose rows are whose. */
export interface Account {
  id: string
  name: string
  plan: string
  /** ISO 4217. */
  currency: string
  createdAt: Date
}

/**
 * Creates an account.
 * @returns the account, or undefined when the id is taken or there is no such plan
 */
export async function createAccount(
  postgres: Postgres,
  wanted: { id?: string; name: string; plan: string; currency: string },
): Promise<Account | undefined> {
  const [account] = await queryPostgres(
    postgres<Account[]>`
      INSERT INTO accounts (id, name, plan, currency)
      SELECT ${wanted.id ?? uuidv7()}, ${wanted.name}, plans.name, ${wanted.currency}
      FROM plans
      WHERE plans.name = ${wanted.plan}
      ON CONFLICT (id) DO NOTHING
      RETURNING id, name, plan, currency, created_at AS "createdAt"`,
  )
  return account
}

/** @returns every account, oldest first */
export async function listAccounts(postgres: Postgres): Promise<Account[]> {
  return await queryPostgres(
    postgres<Account[]>`
      SELECT id, name, plan, currency, created_at AS "createdAt"
      FROM accounts
      ORDER BY created_at, id`,
  )
}

/** @returns the account of that id, if there is one */
export async function findAccount(postgres: Postgres, id: string): Promise<Account | undefined> {
  const [account] = await queryPostgres(
    postgres<Account[]>`
      SELECT id, name, plan, currency, created_at AS "createdAt"
      FROM accounts
      WHERE id = ${id}`,
  )
  return account
}

/**
 * Moves an account to another plan; every instance follows within 5 seconds.
 * @returns the account as it is now, or undefined when there is no such account or plan
 */
export async function setPlanOfAccount(postgres: Postgres, id: string, plan: string): Promise<Account | undefined> {
  const [account] = await queryPostgres(
    postgres<Account[]>`
      UPDATE accounts
      SET plan = plans.name
      FROM plans
      WHERE accounts.id = ${id} AND plans.name = ${plan}
      RETURNING accounts.id, accounts.name, plan, currency, created_at AS "createdAt"`,
  )
  return account
}
