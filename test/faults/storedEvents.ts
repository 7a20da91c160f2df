import { countStoredEvents } from '../../src/query/monthlyCounts.ts'
import type { Stores } from '../../src/stores/open.ts'
import { rowsOf } from '../import/runImport.ts'
import { changeTables } from '../kit/rows.ts'
import type { EventLoad } from './load.ts'
import { loadAccountId } from './loadAccount.ts'

/** Compares the acknowledged events of all loads with the stored ones. @returns the differences, empty when there are none */
export async function compareStoredEvents(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  loads: readonly Pick<EventLoad, 'acknowledged'>[],
): Promise<string[]> {
  const faults: string[] = []
  const acknowledged = new Set(loads.flatMap((load) => [...load.acknowledged]))
  const stored = new Map<string, number>()
  for (const { id, rows, generation } of await rowsOf<{ id: string; rows: number; generation: number }>(
    { clickhouse },
    'SELECT id, count() AS rows, max(generation) AS generation FROM pixel_events FINAL GROUP BY id',
  )) {
    stored.set(id, rows)
    if (rows !== 1 || generation !== 0) faults.push(`${id} is stored ${rows} times, last as generation ${generation}`)
    if (!acknowledged.has(id)) faults.push(`${id} is stored and was not acknowledged`)
  }
  for (const id of acknowledged) if (!stored.has(id)) faults.push(`${id} was acknowledged and is not stored`)
  await changeTables({ clickhouse }, 'OPTIMIZE TABLE pixel_events FINAL')
  let counted = 0
  const now = new Date()
  // An instance with a wrong clock may have dated events into an adjacent month.
  for (const shift of [-1, 0, 1]) {
    const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + shift)
    const counts = await countStoredEvents(clickhouse, [loadAccountId], monthMs, { label: 'faults' })
    counted += counts.get(loadAccountId) ?? 0
  }
  if (counted !== stored.size) faults.push(`The monthly count is ${counted} for ${stored.size} stored events`)
  return faults
}
