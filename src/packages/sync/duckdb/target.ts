import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { openChecksums } from '../database/compare.ts'
import { earlier, openState, type SyncState, stateStatement, stateValues } from '../database/state.ts'
import { createTables } from '../database/tables.ts'
import type { DatabaseCopy } from '../database/target.ts'
import { type Download, downloadParquet } from '../files/download.ts'
import { openFolder } from '../files/folder.ts'
import { isRetained, requestChecksums, type Span } from '../source/checksums.ts'
import type { Filled, Reader } from '../source/copy.ts'
import { TemporaryError } from '../source/errors.ts'
import { isInstant, received } from '../source/received.ts'
import { type ChangingResource, exportedFields, type Resource } from '../source/resources.ts'
import { assertOtherName, databaseOf, openFile } from './database.ts'
import { type Load, loadRows } from './load.ts'
import { rangesOf } from './ranges.ts'

const fileOptions = {
  // Above this limit, DuckDB continues on disk.
  memory_limit: '512MB',
  // In the order of the rows, DuckDB writes incomplete row groups, and writes most rows again to combine them.
  preserve_insertion_order: 'false',
  // The oldest DuckDB that can read a new file. Its format compresses text in less time than the default, the format of 1.0.
  storage_compatibility_version: 'v1.3.0',
}

/**
 * Opens a copy in a file of DuckDB, which loads Parquet exports by itself: no row passes through JavaScript. The first pass reads
 * the days whose checksums differ, later ones what has changed.
 * @param schema a checked name
 * @throws as `openFile`; SyncError when the file has the name of the schema
 */
export async function openTarget(file: string, schema: string): Promise<DatabaseCopy> {
  assertOtherName(file, schema)
  const opened = await openFile(file, fileOptions)
  const database = databaseOf(opened.connection)
  await createTables(database, schema).catch((error) => {
    opened.close()
    throw error
  })
  const copy = { ...openChecksums(database, schema), ...openState(database, schema) }
  const part = { storage: openFolder(dirname(file)), path: `.${basename(file)}.rows` }
  const partFile = join(part.storage.name, part.path)

  /** Loads an export. @returns number of rows that were inserted or changed; undefined if the export is not complete */
  async function load(
    reader: Reader,
    resource: Resource | ChangingResource,
    download: Omit<Download, 'storage' | 'path'>,
    options: () => Omit<Load, 'file'>,
  ): Promise<number | undefined> {
    try {
      if ((await downloadParquet(reader, resource, { ...part, ...download })) === undefined) return undefined
      return await loadRows(opened.connection, schema, resource, { ...options(), file: partFile })
    } finally {
      await rm(partFile, { force: true })
    }
  }

  /** Replaces the rows of a range of days. @returns their number; undefined if the source has removed rows of the range by age */
  function replaceDays(reader: Reader, resource: ChangingResource, range: Span, after?: SyncState) {
    const download = {
      // For newest first, ClickHouse takes up to twice as long: it reverses what it reads.
      query: { ...resource.query, ...range, order: 'asc' },
      fields: exportedFields(resource),
      isComplete: () => isRetained(reader, resource, range.from),
    }
    return load(reader, resource, download, () => ({ replaced: range, ...(after && { after }) }))
  }

  /**
   * Copies the days that differ, and all days when columns are new, from the newest to the oldest.
   * @returns the state as it is if neither the source nor the copy has rows
   */
  async function copyDays(reader: Reader, resource: ChangingResource, state: SyncState) {
    const stored = await copy.days(resource)
    // Before the range of days is read: a row that is stored in between can be of another day.
    const { asOf } = await requestChecksums(reader, resource, { from: '2000-01-01', to: '2000-01-01' })
    const checksums = await copy.readChecksums(reader, resource)
    if (!checksums) return { state }
    const { newColumns, cursor } = state
    const unfilledBefore = newColumns === null ? '' : (cursor ?? '9999-12-31')
    const different = new Set(await copy.differentDays(resource, checksums))
    const rowsOf = new Map(checksums.days.map(({ day, rows }) => [day, rows]))
    const days = [...new Set([...rowsOf.keys(), ...different])]
    const isWanted = (day: string) => day < unfilledBefore || different.has(day)
    const ranges = rangesOf(days.map((day) => ({ day, rows: rowsOf.get(day) ?? 0, isWanted: isWanted(day) })))
    for (const [index, range] of ranges.entries()) {
      const after = { ...state, cursor: newColumns === null ? null : range.from }
      const count = await replaceDays(reader, resource, range, after)
      if (count === undefined) {
        throw new TemporaryError(`the source has removed ${resource.name} of ${range.from} by age; run again.`)
      }
      reader.onRows(resource.name, count, (index + 1) / ranges.length)
    }
    const since = earlier(asOf, resource.overlapMs)
    const after: SyncState = { firstDay: reader.from ?? null, since, nextSince: null, cursor: null, newColumns: null }
    await database.query(stateStatement(schema), stateValues(resource, after))
    if (newColumns === null) return { state: after }
    const { from } = checksums.range
    return { state: after, filled: { columns: newColumns.split(','), ...(stored && from > stored.from && { from }) } }
  }

  return {
    ...copy,
    async copyAll(reader, resource) {
      const state = await copy.readState(resource)
      const { newColumns } = state
      const after = newColumns === null ? {} : { after: { ...state, newColumns: null } }
      const count = await load(reader, resource, {}, () => ({ replaced: 'table', ...after }))
      reader.onRows(resource.name, count ?? 0, 1)
      return newColumns === null ? undefined : { columns: newColumns.split(',') }
    },
    async copyChanges(reader, resource) {
      const { from } = reader
      let state = await copy.readState(resource)
      let filled: Filled | undefined
      const firstDay = from ?? null
      if (state.since === null || state.firstDay !== firstDay) {
        ;({ state, filled } = await copyDays(reader, resource, state))
      }
      let copied = ''
      const download = {
        query: { ...resource.query, ...(from && { from }), ...(state.since && { updated_since: state.since }) },
        fields: exportedFields(resource),
        onAsOf(asOf: string) {
          copied = asOf
        },
      }
      const count = await load(reader, resource, download, () => {
        const since = earlier(received(resource.path, 'X-As-Of', copied, isInstant), resource.overlapMs)
        return since === state.since ? {} : { after: { ...state, firstDay, since } }
      })
      reader.onRows(resource.name, count ?? 0, 1)
      return { copied, filled }
    },
    replaceDay: (reader, resource, day) => replaceDays(reader, resource, { from: day, to: day }),
    async close() {
      opened.close()
    },
  }
}
