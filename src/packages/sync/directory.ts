import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Filled, Reader } from './database/target.ts'
import { downloadParquet } from './files/download.ts'
import { digestOf, makeSubfolder, readStateFile, replaceFile } from './files/folder.ts'
import { type DayChecksum, dayRange, isRetained, requestChecksums, timeRange } from './source/checksums.ts'
import { assertSameAccount } from './source/errors.ts'
import { isAccountId, isCount, isDay, isFieldName, isHash, isRecord, type Row, received } from './source/received.ts'
import type { ChangingResource, Resource } from './source/resources.ts'

/** What a run on a directory needs. */
export interface DirectoryRun extends Reader {
  folder: string
  /** Compares the files with their digests as well. */
  isVerified: boolean
}

/** The checksum that a file was read for, its digest, and a hash of the names of its fields. */
interface FileState extends DayChecksum {
  fields: string
  sha256: string
}

/** The files of a resource, and the names of the fields that all of them have. */
interface FolderState {
  fields: string[]
  days: FileState[]
}

/**
 * Assigns the folder to an account, once.
 * @throws SyncError when it has the files of another account, or its state was changed by another program
 */
export async function assignFolder(folder: string, accountId: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const isSource = (value: unknown): value is { accountId: string } => isRecord(value) && isAccountId(value.accountId)
  const source = await readStateFile(folder, sourceFile, isSource)
  if (source) assertSameAccount(`the folder ${folder}`, source.accountId, accountId)
  else await replaceFile(folder, sourceFile, [JSON.stringify({ accountId })])
}

/** Writes all rows of a metadata resource to `<resource>/part.parquet`. */
export async function writeAll(run: DirectoryRun, resource: Resource): Promise<void> {
  await downloadParquet(run, resource, { folder: await makeSubfolder(run.folder, resource.name), name: fileName })
}

/**
 * Writes the rows of each UTC day with a changed checksum to `<resource>/day=2026-11-20/part.parquet`, also of each day whose file
 * lacks a field that the API has now, and removes the files of days without rows. Files of days that the source has removed by age
 * remain. A file is replaced whole; a process that ends at any moment leaves complete files, old or new.
 * @returns the days for which a file was written or removed; the fields that the files did not have before, if any; what the files
 *   were compared with, undefined if neither the source nor the copy has rows
 */
export async function writeDays(run: DirectoryRun, resource: ChangingResource) {
  const folder = await makeSubfolder(run.folder, resource.name)
  const before = (await readStateFile(folder, stateFile, isFolderState)) ?? { fields: [], days: [] }
  const known = new Map(before.days.map((file) => [file.day, file]))
  const days = [...known.keys()].sort()
  const last = days.at(-1)
  const times = await timeRange(run, resource)
  const range = dayRange(times, days[0] && last ? { from: days[0], to: last } : undefined)
  const checksums = range && (await requestChecksums(run, resource, range))
  const source = checksums?.days ?? []
  const names = times ? fieldNames(resource, times.row) : before.fields
  const fields = createHash('sha256').update(names.join(' ')).digest('hex')
  const writeState = (all: readonly string[]) =>
    replaceFile(folder, stateFile, [JSON.stringify({ fields: all, days: [...known.values()] })])
  const written: string[] = []
  for (const [index, checksum] of source.entries()) {
    const { day, rows } = checksum
    const dayFolder = await makeSubfolder(folder, `day=${day}`)
    const { sha256: digest, ...file }: Partial<FileState> = known.get(day) ?? {}
    const isCurrent = isDeepStrictEqual(file, { ...checksum, fields })
    if (isCurrent && (!run.isVerified || (await digestOf(join(dayFolder, fileName))) === digest)) continue
    const query = { ...resource.query, from: day, to: day }
    const isComplete = () => isRetained(run, resource, day)
    const sha256 = await downloadParquet(run, resource, { folder: dayFolder, name: fileName, query, isComplete })
    if (sha256 === undefined) continue
    known.set(day, { ...checksum, fields, sha256 })
    await writeState(before.fields)
    written.push(day)
    run.onRows(resource.name, rows, (index + 1) / source.length)
  }
  const present = new Set(source.map(({ day }) => day))
  const isCompared = (day: string) => checksums === undefined || day >= checksums.range.from
  for (const day of days.filter((day) => isCompared(day) && !present.has(day))) {
    await rm(join(folder, `day=${day}`), { recursive: true, force: true })
    known.delete(day)
    await writeState(before.fields)
    written.push(day)
  }
  // Last, so that the run after a killed one still says which fields are new.
  if (`${names}` !== `${before.fields}`) await writeState(names)
  const columns = before.fields.length > 0 ? names.filter((name) => !before.fields.includes(name)) : []
  const from = checksums?.range.from
  const keepsOlder = days[0] !== undefined && from !== undefined && days[0] < from
  const filled: Filled | undefined = columns.length > 0 ? { columns, ...(keepsOlder && { from }) } : undefined
  return { written, filled, checksums }
}

/** @returns the names of the fields of a row, sorted */
function fieldNames({ path }: ChangingResource, row: Row): string[] {
  return Object.keys(row)
    .sort()
    .map((name) => received(path, 'the name of a field', name, isFieldName))
}

function isFolderState(value: unknown): value is FolderState {
  if (!isRecord(value) || !Array.isArray(value.fields) || !Array.isArray(value.days)) return false
  return value.fields.every(isFieldName) && value.days.every(isFileState)
}

function isFileState(value: unknown): boolean {
  if (!isRecord(value) || !isDay(value.day) || !isCount(value.rows) || !isHash(value.hash)) return false
  return [value.amount, value.fields, value.sha256].every((one) => typeof one === 'string')
}

const fileName = 'part.parquet'

/** In the folder of a resource. */
const stateFile = '.tributary-sync.json'

/** In the folder of the copy: the account. */
const sourceFile = '.tributary-sync-source.json'
