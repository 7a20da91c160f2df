import { earlier, type SyncState } from '../database/state.ts'
import type { DatabaseCopy } from '../database/target.ts'
import { isRetained, retainedDay, timeRange } from '../source/checksums.ts'
import type { Reader } from '../source/copy.ts'
import { checkDay, checkRows, isInstant, parseRow, type Row, received } from '../source/received.ts'
import { type ChangingResource, exportedFields, type Resource } from '../source/resources.ts'
import { openTables, type PostgresTables } from './tables.ts'

/** Rows of one statement, at least; about 5 MB of JSON. */
const batchRows = 5_000

/**
 * Opens a copy in PostgreSQL, which is filled by batches of rows.
 * @param schema a checked name
 */
export async function openTarget(url: string, schema: string): Promise<DatabaseCopy> {
  const tables = await openTables(url, schema)
  return {
    ...tables,
    copyAll: (reader, resource) => copyAll(reader, tables, resource),
    copyChanges: (reader, resource) => copyChanges(reader, tables, resource),
    async replaceDay(reader, resource, day) {
      const query = { ...resource.query, from: day, to: day }
      const fields = exportedFields(resource)
      const rows = reader.client.exportBatches(resource.path, { query, fields, parse: parseRow, signal: reader.signal })
      const batches = checkedBatches(rows, (part) => checkDay(resource, day, part))
      return await tables.replaceRows(resource, day, batches, () => isRetained(reader, resource, day))
    },
  }
}

/**
 * Checks the rows of an export, and combines its arrays into batches of at least `batchRows` rows.
 * @throws the error of `check`
 */
async function* checkedBatches(parts: AsyncIterable<Row[]>, check: (rows: Row[]) => void): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  for await (const rows of parts) {
    check(rows)
    batch = batch.concat(rows)
    if (batch.length < batchRows) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** The next batch is read while one is stored. */
async function copyChanges(reader: Reader, tables: PostgresTables, resource: ChangingResource) {
  const { client, from, signal, onRows } = reader
  let state = await tables.readState(resource)
  const { newColumns } = state
  const firstDay = from ?? null
  // Another first day: a new copy from the start.
  const isContinued = state.firstDay === firstDay
  const pass: SyncState = isContinued ? state : { ...state, firstDay, since: null, nextSince: null, cursor: null }
  let { nextSince } = pass
  // New columns are filled for all rows of the copy, also for rows before the first day that is wanted now.
  const stored = newColumns === null ? undefined : await tables.days(resource)
  const start = from && stored && stored.from < from ? stored.from : from
  const query = {
    ...resource.query,
    ...(start !== undefined && { from: start }),
    ...(pass.since !== null && { updated_since: pass.since }),
    ...(pass.cursor !== null && { cursor: pass.cursor }),
  }
  const times = pass.since === null ? await timeRange({ ...reader, from: start }, resource) : undefined
  const rows = client.exportBatches(resource.path, {
    query,
    signal,
    parse: parseRow,
    fields: exportedFields(resource),
    onAsOf(asOf) {
      nextSince ??= received(resource.path, 'X-As-Of', asOf, isInstant)
    },
  })
  const store = async (batch: readonly Row[], cursor: string | null) => {
    const since = nextSince && earlier(nextSince, resource.overlapMs)
    const after: SyncState = cursor
      ? { firstDay, since: pass.since, nextSince, cursor, newColumns }
      : { firstDay, since, nextSince: null, cursor: null, newColumns: null }
    const count = await tables.store(resource, batch, state, after)
    state = after
    const row = batch.at(-1)
    // A complete export is ordered from the newest row to the oldest, later passes by `storedAt`.
    const done = times ? share(times.to, row?.[resource.time], times.from) : share(pass.since, row?.storedAt, nextSince)
    onRows(resource.name, count, done)
  }
  let storing = Promise.resolve()
  for await (const batch of checkedBatches(rows, (part) => checkRows(resource, part))) {
    await storing
    storing = store(batch, `${batch.at(-1)?.cursor}`)
    // An error is thrown by the next `await`.
    storing.catch(() => {})
  }
  await storing
  const retained = stored && (await retainedDay(reader, resource, stored.from))
  await store([], null)
  const copied = nextSince ?? ''
  if (newColumns === null) return { copied }
  const lacking = stored && retained && retained > stored.from ? { from: retained } : {}
  return { copied, filled: { columns: newColumns.split(','), ...lacking } }
}

async function copyAll({ client, signal, onRows }: Reader, tables: PostgresTables, resource: Resource) {
  const state = await tables.readState(resource)
  const parts = client.exportBatches(resource.path, { parse: parseRow, signal })
  for await (const rows of checkedBatches(parts, (part) => checkRows(resource, part))) {
    await tables.storeAll(resource, rows)
    onRows(resource.name, rows.length, 1)
  }
  if (state.newColumns === null) return undefined
  await tables.store(resource, [], state, { ...state, newColumns: null })
  return { columns: state.newColumns.split(',') }
}

/** @returns how far a time is between two others, 0 to 1 */
function share(first: string | null, time: unknown, last: string | null): number {
  const [start, at, end] = [first, time, last].map((one) => Date.parse(`${one}`))
  const done = (Number(at) - Number(start)) / (Number(end) - Number(start))
  return Number.isFinite(done) ? Math.min(Math.max(done, 0), 1) : 1
}
