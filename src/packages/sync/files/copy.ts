import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { type DayChecksum, dayRange, isRetained, requestChecksums, timeRange } from '../source/checksums.ts'
import { type Copy, type Filled, type Reader, verified } from '../source/copy.ts'
import { assertSameAccount, TemporaryError } from '../source/errors.ts'
import { isAccountId, isCount, isDay, isFieldName, isHash, isRecord, type Row, received } from '../source/received.ts'
import type { ChangingResource } from '../source/resources.ts'
import { downloadParquet } from './download.ts'
import { readState, type Storage } from './storage.ts'

/** The checksum that a file was read for, its digest, a hash of the names of its fields, and whether its rows were counted. */
type FileState = DayChecksum & { fields: string; digest: string; isCounted?: true }

/** The files of a resource, and the names of the fields that all of them have. */
type FilesState = { fields: string[]; days: FileState[] }

/** Has the account of the copy. */
const sourceFile = '.tributary-sync-source.json'

/** Opens a copy that is Parquet files. */
export function openFilesCopy(storage: Storage): Copy {
  return {
    async assign(accountId) {
      const isSource = (value: unknown): value is { accountId: string } =>
        isRecord(value) && isAccountId(value.accountId)
      const source = await readState(storage, sourceFile, isSource)
      if (source) assertSameAccount(storage.name, source.accountId, accountId)
      else await storage.replace(sourceFile, [JSON.stringify({ accountId })])
    },
    async copyAll(reader, resource) {
      await downloadParquet(reader, resource, { storage, path: `${resource.name}/part.parquet` })
      return undefined
    },
    update: (reader, resource, mustVerify) => writeDays(storage, reader, resource, mustVerify),
    close: storage.close,
  }
}

/**
 * Writes the rows of each UTC day with a changed checksum to `<resource>/day=2026-11-20/part.parquet`, also of each day whose file
 * lacks a field that the API has now, and removes the files of days without rows. Files of days that the source has removed by age
 * remain. A process that ends at any moment leaves complete files, old or new.
 * @param mustVerify whether the files are compared with their digests as well
 */
async function writeDays(storage: Storage, reader: Reader, resource: ChangingResource, mustVerify: boolean) {
  const stateFile = `${resource.name}/.tributary-sync.json`
  const fileOf = (day: string) => `${resource.name}/day=${day}/part.parquet`
  const before = (await readState(storage, stateFile, isFilesState)) ?? { fields: [], days: [] }
  const known = new Map(before.days.map((file) => [file.day, file]))
  const days = [...known.keys()].sort()
  const last = days.at(-1)
  const times = await timeRange(reader, resource)
  const range = dayRange(times, days[0] && last ? { from: days[0], to: last } : undefined)
  // Without rows, a day without rows has the present of the source.
  const checksums = await requestChecksums(reader, resource, range ?? { from: '2000-01-01', to: '2000-01-01' })
  const source = checksums.days
  const names = times ? fieldNames(resource, times.row) : before.fields
  const fields = createHash('sha256').update(names.join(' ')).digest('hex')
  const writeState = (all: readonly string[]) =>
    storage.replace(stateFile, [JSON.stringify({ fields: all, days: [...known.values()] })])
  const [written, repaired]: [string[], string[]] = [[], []]
  for (const [index, checksum] of source.entries()) {
    const { day, rows } = checksum
    const { digest: stored, isCounted, ...file }: Partial<FileState> = known.get(day) ?? {}
    const isCurrent = isDeepStrictEqual(file, { ...checksum, fields })
    if (isCurrent && (!mustVerify || (isCounted && (await storage.digestOf(fileOf(day))) === stored))) continue
    const query = { ...resource.query, from: day, to: day, order: 'asc' }
    let found = 0
    const isComplete = async (part: string) => {
      if (!(await isRetained(reader, resource, day))) return false
      found = await countRows(reader, resource, checksum, part)
      return true
    }
    const digest = await downloadParquet(reader, resource, { storage, path: fileOf(day), query, isComplete })
    if (digest === undefined) continue
    // With fewer rows than the checksum counts, the next run reads the day again.
    known.set(day, { ...checksum, rows: Math.min(rows, found), fields, digest, isCounted: true })
    await writeState(before.fields)
    written.push(day)
    if (isCurrent && isCounted) repaired.push(day)
    reader.onRows(resource.name, rows, (index + 1) / source.length)
  }
  const present = new Set(source.map(({ day }) => day))
  for (const day of days.filter((day) => day >= checksums.range.from && !present.has(day))) {
    await storage.remove(fileOf(day))
    known.delete(day)
    await writeState(before.fields)
    written.push(day)
  }
  // Last, so that the run after a killed one still says which fields are new.
  if (`${names}` !== `${before.fields}`) await writeState(names)
  const columns = before.fields.length > 0 ? names.filter((name) => !before.fields.includes(name)) : []
  const { from } = checksums.range
  const keepsOlder = days[0] !== undefined && days[0] < from
  const filled: Filled | undefined = columns.length > 0 ? { columns, ...(keepsOlder && { from }) } : undefined
  const compared = ['checksum that each file was read for', 'digest of each file']
  const proof = range && verified(resource, checksums, repaired, compared)
  return { asOf: checksums.asOf, written, filled, verified: proof }
}

/**
 * Counts the rows of a file of a day. It may have more than the checksum: rows that were stored later.
 * @throws TemporaryError when it has fewer rows than this checksum and a later one, since a replica may lack rows; or no valid footer
 */
async function countRows(reader: Reader, resource: ChangingResource, { day, rows }: DayChecksum, file: string) {
  const footer = await parquetMetadataAsync(await asyncBufferFromFile(file)).catch(() => {
    throw new TemporaryError(`the export of ${resource.path} of ${day} has no valid footer.`)
  })
  const found = Number(footer.num_rows)
  if (found >= rows) return found
  const { days } = await requestChecksums(reader, resource, { from: day, to: day })
  const wanted = Math.min(rows, days[0]?.rows ?? 0)
  if (found >= wanted) return found
  throw new TemporaryError(`the export of ${resource.path} of ${day} has ${found} rows instead of ${wanted}.`)
}

/** @returns the names of the fields of a row, sorted */
function fieldNames({ path }: ChangingResource, row: Row): string[] {
  return Object.keys(row)
    .sort()
    .map((name) => received(path, 'the name of a field', name, isFieldName))
}

function isFilesState(value: unknown): value is FilesState {
  if (!isRecord(value) || !Array.isArray(value.fields) || !Array.isArray(value.days)) return false
  return value.fields.every(isFieldName) && value.days.every(isFileState)
}

function isFileState(value: unknown): boolean {
  if (!isRecord(value) || !isDay(value.day) || !isCount(value.rows) || !isHash(value.hash)) return false
  return [value.amount, value.fields, value.digest].every((one) => typeof one === 'string')
}
