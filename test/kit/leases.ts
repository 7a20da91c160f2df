import type { Stores } from '../../src/stores/open.ts'

/** Lets the lease of the process expire that has claimed an account, as 10 s after its kill. */
export async function expireProcessOf({ postgres }: Pick<Stores, 'postgres'>, account: string): Promise<void> {
  await postgres`
    UPDATE leases SET expires_at = '-infinity'
    WHERE name = (SELECT process FROM leases WHERE name = ${`writer:${account}`})`
}
