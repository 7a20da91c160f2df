import { takeLease } from '../stores/lease.ts'
import { recover } from './recover.ts'
import type { Writer } from './writer.ts'

/**
 * Waits for the account's turn, then brings back in order what an earlier writer left half done.
 * @param signal ends the wait and every step
 * @throws Problem `unavailable` when a store stays away, or the reason of `signal`
 */
export async function openWriter(
  stores: Writer['stores'],
  accountId: string,
  { say, signal }: Pick<Writer, 'say' | 'signal'>,
): Promise<Writer> {
  const lease = await takeLease(stores.postgres, `writer:${accountId}`, {
    signal,
    onWait: () => say(`Another writer is at work on account ${accountId}; waiting for it to end.`),
  })
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
