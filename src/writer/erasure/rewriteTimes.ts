import { readClickHouseClock } from '../../stores/cluster/clock.ts'
import type { Writer } from '../fence/session.ts'
import { clearBatches, recordBatches } from '../journal/journal.ts'
import type { PersonalTable } from './personalFields.ts'

/** Entries without days. Their tokens are the same after an interruption, so that all rows get the time that was recorded first. */
const entriesOf = ({ accountId }: Writer) =>
  (['clicks', 'conversions'] as const).map((resource) => {
    return { token: `erasure ${resource} ${accountId}`, accountId, resource, firstMs: 0, lastMs: 0, added: [] }
  })

/**
 * Records the rewrite, so that no `asOf` passes the new `stored_at` before every row with it is visible.
 * @returns `stored_at` of the rewritten rows, epoch milliseconds
 */
export async function beginRewrite(writer: Writer): Promise<Record<PersonalTable['resource'], number>> {
  const { accountId } = writer
  const storedAt = await recordBatches(writer, entriesOf(writer))
  const readClock = () =>
    writer.retry('reading the clock of ClickHouse', () => readClickHouseClock(writer.stores.clickhouse))
  const beganAt = new Date(await readClock()).toISOString()
  await writer.change('recording an erasure')`
    recorded AS (
      INSERT INTO event_rewrites SELECT ${writer.accountId}::text, ${beganAt}::timestamptz FROM held ON CONFLICT DO NOTHING)`
  // Read after it was recorded: later than the watermark of any reader that has not seen the record.
  return {
    clicks: storedAt({ accountId, resource: 'clicks' }),
    conversions: storedAt({ accountId, resource: 'conversions' }),
    events: await readClock(),
  }
}

/** Ends the record, once every rewritten row is visible. */
export async function endRewrite(writer: Writer): Promise<void> {
  await clearBatches(writer, entriesOf(writer))
  await writer.change('completing an erasure')`
    ended AS (DELETE FROM event_rewrites USING held WHERE account_id = ${writer.accountId})`
}
