import { retainedDay, timeRange } from './checksums.ts'
import { batchesOf, copyAll, type Run, share } from './copy.ts'
import { type ChangingResource, exportedFields, type Resource } from './resources.ts'

/** Columns that were added to an existing table and are filled now. */
export interface Filled {
  columns: string[]
  /** Rows before this UTC day lack the columns: the source has removed them by age. */
  from?: string
}

/**
 * Copies all rows of a metadata resource, and thereby fills new columns.
 * @returns undefined if no column is new
 */
export async function copyAndFillAll(run: Run, resource: Resource): Promise<Filled | undefined> {
  const fill = await run.target.readFill(resource)
  await copyAll(run, resource)
  if (!fill) return undefined
  await run.target.endFill(resource)
  return { columns: fill.columns }
}

/**
 * Reads all rows of the copy again if its table has new columns, or continues a fill that was interrupted.
 * @returns undefined if no column is new
 */
export async function fillColumns(run: Run, resource: ChangingResource): Promise<Filled | undefined> {
  const { client, target, signal, onRows } = run
  const fill = await target.readFill(resource)
  if (!fill) return undefined
  const { columns, firstDay, cursor } = fill
  const times = await timeRange({ ...run, from: firstDay }, resource)
  const query = { ...resource.query, from: firstDay, ...(cursor !== null && { cursor }) }
  const rows = client.exportBatches(resource.path, { query, signal, fields: exportedFields(resource) })
  for await (const batch of batchesOf(resource, rows)) {
    await target.storeAll(resource, batch)
    const last = batch.at(-1)
    await target.continueFill(resource, `${last?.cursor}`)
    onRows(resource.name, batch.length, times ? share(times.to, last?.[resource.time], times.from) : 1)
  }
  const from = await retainedDay(run, resource, firstDay)
  await target.endFill(resource)
  return from > firstDay ? { columns, from } : { columns }
}
