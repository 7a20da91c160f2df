import { Batcher } from '../stores/batcher.ts'
import type { QueryTarget } from '../stores/clickhouse/select.ts'
import type { ClickHouse } from '../stores/cluster/connection.ts'
import { type AccountKey, keyText } from '../writer/tables/accountKeys.ts'

const lookUpsMax = 1_000
const oneByOne = { concurrentMax: 1, timeoutMs: 5_000 }

/** Queries of events use the connections of writes, so that they do not wait for the reads of clients. */
export const asWriter = ({ client, onQuery }: ClickHouse): QueryTarget => ({ reader: client, onQuery })

/** A value of an id. */
export type Found<Value> = AccountKey & { value: Value }

/** Combines look-ups of one value by id; undefined for an unknown id. */
export function openLookUps<Value>(
  read: (wanted: readonly AccountKey[], signal: AbortSignal) => Promise<Found<Value>[]>,
  limits = oneByOne,
) {
  const lookUps = new Batcher<Found<Value | undefined>>({
    itemsMax: lookUpsMax,
    ...limits,
    async run(wanted, signal) {
      const found = new Map((await read(wanted, signal)).map((row) => [keyText(row), row.value]))
      for (const lookUp of wanted) lookUp.value = found.get(keyText(lookUp))
    },
  })
  return async ({ accountId, id }: AccountKey) => (await lookUps.add({ accountId, id, value: undefined })).value
}
