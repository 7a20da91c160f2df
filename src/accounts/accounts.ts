import { v7 as uuidv7 } from 'uuid'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'

/** A customer; owner of rows and API keys. */
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
 * @returns the account, or undefined when the id exists or the subscription plan does not
 */
export async function createAccount(
  postgres: Postgres,
  values: { id?: string; name: string; plan: string; currency: string },
): Promise<Account | undefined> {
  const [account] = await queryPostgres(
    postgres<Account[]>`
      INSERT INTO accounts (id, name, plan, currency)
      SELECT ${values.id ?? uuidv7()}, ${values.name}, plans.name, ${values.currency}
      FROM plans
      WHERE plans.name = ${values.plan}
      ON CONFLICT (id) DO NOTHING
      RETURNING id, name, plan, currency, created_at AS "createdAt"`,
  )
  return account
}

/** @returns all accounts, oldest first */
export async function listAccounts(postgres: Postgres): Promise<Account[]> {
  return await queryPostgres(
    postgres<Account[]>`
      SELECT id, name, plan, currency, created_at AS "createdAt"
      FROM accounts
      ORDER BY created_at, id`,
  )
}

/** @returns the account with this id, undefined if it does not exist */
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
 * Changes the subscription plan of an account; all instances apply it within 5 seconds.
 * @returns the updated account, or undefined when the account or the plan does not exist
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
