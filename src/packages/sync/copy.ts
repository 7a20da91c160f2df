import type { SyncState, Target } from './postgres/target.ts'
import { retainedDay, type Source, timeRange } from './source/checksums.ts'
import { checkRows, isInstant, type Row, received } from './source/received.ts'
import { type ChangingResource, exportedFields, type Resource } from './source/resources.ts'

/** Rows of one statement, at least; about 5 MB of JSON. */
const batchRows = 5_000

/** Passes that may end before the time that `copyBeyond` is given. */
const passesMax = 3

/** What a run needs. */
export interface Run extends Source {
  target: Target
  /** Called with the number of rows that were stored, and the part of the resource that is done, 0 to 1. */
  onRows(resource: string, rows: number, fraction: number): void
}

/**
 * Checks the rows of an export, and combines its arrays into batches of at least `batchRows` rows.
 * @throws the error of `check`
 */
export async function* checkedBatches(
  parts: AsyncIterable<Row[]>,
  check: (rows: Row[]) => void,
): AsyncGenerator<Row[]> {
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

/** Columns that were added to an existing table and are filled now. */
export interface Filled {
  columns: string[]
  /** Rows before this UTC day lack the columns: the source has removed them by age. */
  from?: string
}

/**
 * Copies the rows that were stored since the last pass, all of them at first and when columns are new, or continues an
 * interrupted pass. The next batch is read while one is stored.
 * @returns the time before which all rows are copied, and the new columns
 */
async function copyChanges(run: Run, resource: ChangingResource): Promise<{ copied: string; filled?: Filled }> {
  const { client, target, from, signal, onRows } = run
  let state = await target.readState(resource)
  const { newColumns } = state
  const firstDay = from ?? null
  // Another first day: a new copy from the start.
  const isContinued = state.firstDay === firstDay
  const pass: SyncState = isContinued ? state : { ...state, firstDay, since: null, nextSince: null, cursor: null }
  let { nextSince } = pass
  // New columns are filled for all rows of the copy, also for rows before the first day that is wanted now.
  const stored = newColumns === null ? undefined : await target.days(resource)
  const start = from && stored && stored.from < from ? stored.from : from
  const query = {
    ...resource.query,
    ...(start !== undefined && { from: start }),
    ...(pass.since !== null && { updated_since: pass.since }),
    ...(pass.cursor !== null && { cursor: pass.cursor }),
  }
  const times = pass.since === null ? await timeRange({ ...run, from: start }, resource) : undefined
  const rows = client.exportBatches(resource.path, {
    query,
    signal,
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
    const count = await target.store(resource, batch, state, after)
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
  const retained = stored && (await retainedDay(run, resource, stored.from))
  await store([], null)
  const copied = nextSince ?? ''
  if (newColumns === null) return { copied }
  const lacking = stored && retained && retained > stored.from ? { from: retained } : {}
  return { copied, filled: { columns: newColumns.split(','), ...lacking } }
}

/**
 * Copies changes until the copy has all rows that were stored before `asOf`. One pass is enough, unless it continues one that
 * began before `asOf`, or a clock was set back.
 * @param asOf undefined for one pass
 * @returns undefined if no column is new
 */
export async function copyBeyond(
  run: Run,
  resource: ChangingResource,
  asOf: string | undefined,
): Promise<Filled | undefined> {
  let added: Filled | undefined
  for (let pass = 1; pass <= passesMax; pass++) {
    const { copied, filled } = await copyChanges(run, resource)
    added ??= filled
    if (asOf === undefined || copied >= asOf) break
  }
  return added
}

/**
 * Copies all rows of a metadata resource.
 * @returns undefined if no column is new
 */
export async function copyAll(run: Run, resource: Resource): Promise<Filled | undefined> {
  const { client, target, signal, onRows } = run
  const state = await target.readState(resource)
  const parts = client.exportBatches(resource.path, { signal })
  for await (const rows of checkedBatches(parts, (part) => checkRows(resource, part))) {
    await target.storeAll(resource, rows)
    onRows(resource.name, rows.length, 1)
  }
  if (state.newColumns === null) return undefined
  await target.store(resource, [], state, { ...state, newColumns: null })
  return { columns: state.newColumns.split(',') }
}

/** @returns how far a time is between two others, 0 to 1 */
function share(first: string | null, time: unknown, last: string | null): number {
  const [start, at, end] = [first, time, last].map((one) => Date.parse(`${one}`))
  const done = (Number(at) - Number(start)) / (Number(end) - Number(start))
  return Number.isFinite(done) ? Math.min(Math.max(done, 0), 1) : 1
}

function earlier(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString()
}
