import { untilAnswered } from '../patience.ts'
import { type Lease, takeLease } from '../stores/lease.ts'
import { migrationLease, mustBeCurrent } from '../stores/migrate.ts'
import { recover } from './recover.ts'
import type { Writer } from './writer.ts'

/** Who waits for the turn of an account, and on what. */
type Waiting = Pick<Writer, 'say' | 'signal'>

/**
 * Waits for the account's turn: nobody else writes it, and no migration is under way, until the lease is released.
 * @param signal ends the wait
 * @throws Problem `unavailable` when a store stays away, MigrationError when a newer version has migrated the stores
 *   since this process opened them, or the reason of `signal`
 */
export async function takeTurn(stores: Writer['stores'], accountId: string, { say, signal }: Waiting): Promise<Lease> {
  const onWait = (held: string) =>
    say(
      held === migrationLease
        ? 'The stores are being migrated; waiting for it to end.'
        : `Another writer is at work on account ${accountId}; waiting for it to end.`,
    )
  const lease = await takeLease(stores.postgres, `writer:${accountId}`, {
    ...{ behind: migrationLease, signal, onWait },
    repeat: (attempt) => untilAnswered('waiting for its turn', attempt, { say, signal }),
  })
  try {
    await untilAnswered('reading which migrations ran', () => mustBeCurrent(stores), { say, signal })
    return lease
  } catch (error) {
    await lease.release()
    throw error
  }
}

/**
 * Waits for the account's turn, then brings back in order what an earlier writer left half done.
 * @param signal ends the wait and every step
 * @throws what `takeTurn` and `recover` throw
 */
export async function openWriter(
  stores: Writer['stores'],
  accountId: string,
  { say, signal }: Waiting,
): Promise<Writer> {
  const lease = await takeTurn(stores, accountId, { say, signal })
  const writer: Writer = {
    stores,
    accountId,
    lease,
    signal: AbortSignal.any([signal, lease.lost]),
    say,
    close: () => lease.release(),
  }
  try {
    await recover(writer)
    return writer
  } catch (error) {
    await writer.close()
    throw error
  }
}
