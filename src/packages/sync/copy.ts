import type { Source } from './checksums.ts'
import type { Row, SyncState, Target } from './postgres/target.ts'
import type { ChangingResource, Resource } from './resources.ts'

/** Rows of one statement; about 5 MB of JSON. */
const batchRows = 5_000

/** What a run needs. */
export interface Run extends Source {
  target: Target
  /** Called with the number of rows that were stored. */
  onRows(resource: string, rows: number): void
}

/** Yields the rows of an iteration in groups. */
export async function* batchesOf(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < batchRows) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Copies all rows of a metadata resource. */
export async function copyAll({ client, target, signal, onRows }: Run, resource: Resource): Promise<void> {
  for await (const rows of batchesOf(client.exportRows(resource.path, { signal }))) {
    await target.storeAll(resource, rows)
    onRows(resource.name, rows.length)
  }
}

/**
 * Copies the rows that were stored since the last pass, all of them at first, or continues an interrupted pass. The next batch
 * is read while one is stored.
 */
export async function copyChanges(
  { client, target, from, signal, onRows }: Run,
  resource: ChangingResource,
): Promise<void> {
  let state = await target.readState(resource)
  const firstDay = from ?? null
  // Another first day: a new copy from the start.
  const pass: SyncState = state.firstDay === firstDay ? state : { firstDay, since: null, nextSince: null, cursor: null }
  let nextSince = pass.nextSince
  const query = {
    ...resource.query,
    ...(firstDay !== null && { from: firstDay }),
    ...(pass.since !== null && { updated_since: pass.since }),
    ...(pass.cursor !== null && { cursor: pass.cursor }),
  }
  const rows = client.exportRows(resource.path, {
    query,
    signal,
    onAsOf(asOf) {
      nextSince ??= asOf
    },
  })
  const store = async (batch: readonly Row[], cursor: string | null) => {
    const after: SyncState = cursor
      ? { firstDay, since: pass.since, nextSince, cursor }
      : { firstDay, since: nextSince, nextSince: null, cursor: null }
    await target.store(resource, batch, state, after)
    state = after
    onRows(resource.name, batch.length)
  }
  let storing = Promise.resolve()
  for await (const batch of batchesOf(rows)) {
    await storing
    storing = store(batch, `${batch.at(-1)?.cursor}`)
    // An error is thrown by the next `await`.
    storing.catch(() => {})
  }
  await storing
  await store([], null)
}
