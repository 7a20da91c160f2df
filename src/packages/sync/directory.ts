import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { checksumsOf, type DayChecksum, dayRange, isRetained, type Source } from './checksums.ts'
import { assertSameAccount } from './errors.ts'
import type { ChangingResource, Resource } from './resources.ts'

/** What a run on a directory needs. */
export interface DirectoryRun extends Source {
  folder: string
  /** Compares the files with their digests as well. */
  isVerified: boolean
  /** Called with the number of rows that were written, and the part of the resource that is done, 0 to 1. */
  onRows(resource: string, rows: number, fraction: number): void
}

/** The checksum that a file was read for, and its digest. */
interface FileState extends DayChecksum {
  sha256: string
}

/** Maximum number of reads of a file; a further one follows a broken connection. */
const attemptsMax = 4

/**
 * Assigns the folder to an account, once.
 * @throws SyncError when it has the files of another account
 */
export async function assignFolder(folder: string, accountId: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const [file, part] = [join(folder, sourceFile), join(folder, `${sourceFile}.tmp`)]
  try {
    const source: { accountId: string } = JSON.parse(await readFile(file, 'utf8'))
    assertSameAccount(`the folder ${folder}`, source.accountId, accountId)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await writeFile(part, JSON.stringify({ accountId }), { flush: true })
    await rename(part, file)
  }
}

/** Writes all rows of a metadata resource to `<resource>/part.parquet`. */
export async function writeAll(run: DirectoryRun, resource: Resource): Promise<void> {
  await download(run, resource, join(run.folder, resource.name), {})
}

/**
 * Writes the rows of each UTC day with a changed checksum to `<resource>/day=2026-11-20/part.parquet`, and removes the files of
 * days without rows; those of days that the source has removed by age remain. A file is replaced whole; a process that ends at any moment leaves complete files, old or new.
 */
export async function writeDays(run: DirectoryRun, resource: ChangingResource): Promise<string[]> {
  const folder = join(run.folder, resource.name)
  await mkdir(folder, { recursive: true })
  const known = await readState(folder)
  const days = [...known.keys()].sort()
  const last = days.at(-1)
  const range = await dayRange(run, resource, days[0] && last ? { from: days[0], to: last } : undefined)
  const checksums = range && (await checksumsOf(run, resource, range))
  const source = checksums?.days ?? []
  const written: string[] = []
  for (const [index, checksum] of source.entries()) {
    const { day, rows } = checksum
    const dayFolder = join(folder, `day=${day}`)
    if (await isCurrent(known.get(day), checksum, run.isVerified ? dayFolder : undefined)) continue
    const query = { ...resource.query, from: day, to: day }
    const sha256 = await download(run, resource, dayFolder, query, () => isRetained(run, resource, day))
    if (sha256 === undefined) continue
    known.set(day, { ...checksum, sha256 })
    await writeState(folder, known)
    written.push(day)
    run.onRows(resource.name, rows, (index + 1) / source.length)
  }
  const present = new Set(source.map(({ day }) => day))
  const isCompared = (day: string) => checksums === undefined || day >= checksums.range.from
  for (const day of days.filter((day) => isCompared(day) && !present.has(day))) {
    await rm(join(folder, `day=${day}`), { recursive: true, force: true })
    known.delete(day)
    await writeState(folder, known)
    written.push(day)
  }
  return written
}

/** @param dayFolder folder of the file to compare with its digest; undefined to trust it */
async function isCurrent(known: FileState | undefined, checksum: DayChecksum, dayFolder?: string): Promise<boolean> {
  if (known?.rows !== checksum.rows || known.hash !== checksum.hash || known.amount !== checksum.amount) return false
  if (dayFolder === undefined) return true
  const digest = createHash('sha256')
  try {
    await pipeline(createReadStream(join(dayFolder, 'part.parquet')), digest)
  } catch {
    return false
  }
  return digest.digest('hex') === known.sha256
}

/**
 * Writes an export to `part.parquet`, which gets its name when it is complete.
 * @param isComplete asked after the last row; if not, the file is dropped
 * @returns its SHA-256; undefined if it is not complete
 */
async function download(
  { client, signal }: DirectoryRun,
  { path }: Resource,
  folder: string,
  query: object,
  isComplete = async () => true,
): Promise<string | undefined> {
  await mkdir(folder, { recursive: true })
  const [file, part] = [join(folder, 'part.parquet'), join(folder, '.part.parquet.tmp')]
  for (let attempt = 1; ; attempt++) {
    const body = await client.exportFile(path, 'parquet', { query, signal })
    const digest = createHash('sha256')
    try {
      await pipeline(
        Readable.fromWeb(body as never),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            digest.update(chunk)
            yield chunk
          }
        },
        createWriteStream(part, { flush: true }),
        { signal },
      )
    } catch (error) {
      if (signal.aborted || attempt === attemptsMax) throw error
      continue
    }
    if (!(await isComplete())) {
      await rm(part)
      return undefined
    }
    await rename(part, file)
    return digest.digest('hex')
  }
}

/** The days of the files of a folder. */
async function readState(folder: string): Promise<Map<string, FileState>> {
  try {
    const states: FileState[] = JSON.parse(await readFile(join(folder, stateFile), 'utf8'))
    return new Map(states.map((state) => [state.day, state]))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
}

async function writeState(folder: string, states: ReadonlyMap<string, FileState>): Promise<void> {
  const part = join(folder, `${stateFile}.tmp`)
  await writeFile(part, JSON.stringify([...states.values()]), { flush: true })
  await rename(part, join(folder, stateFile))
}

/** In the folder of a resource. */
const stateFile = '.tributary-sync.json'

/** In the folder of the copy: the account. */
const sourceFile = '.tributary-sync-source.json'
