import { createHash } from 'node:crypto'
import { open, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { commit, isLater, version } from '../package.ts'
import { CommandError } from './errors.ts'
import { matching, readJsonFile } from './readJsonFile.ts'

/** Describes a backup; written last, so a folder without it is an unfinished backup. */
export const manifestName = 'backup.json'

/** The folder of the files, beside the manifest; it has the layout of `DATA_DIR`. */
export const contentsName = 'data'

const format = 1

/** What every version writes, in any format. */
const Header = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  program: Type.Object({ version: Type.String(), commit: Type.String() }),
})

const Path = Type.String({
  pattern: '^(?![^]*\\.\\.)\\w[^\\x00-\\x1f]*$',
  description: 'a path below the folder, without control characters',
})

const Manifest = Type.Object({
  ...Header.properties,
  /** Everything acknowledged before is in the backup. */
  takenAt: Type.String(),
  /** Postgres needs empty ones, and not every storage keeps them. */
  folders: Type.Array(Path),
  files: Type.Array(
    Type.Object({ path: Path, bytes: Type.Integer(), sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  ),
})
export type Manifest = Static<typeof Manifest>
type Contents = Pick<Manifest, 'folders' | 'files'>

export function manifestOf(takenAt: Date, contents: Contents): Manifest {
  return { format, program: { version, commit }, takenAt: takenAt.toISOString(), ...contents }
}

/**
 * Reads the manifest of a backup, and compares the files with it.
 * @throws CommandError if the backup is unfinished, changed, or of a later version
 */
export async function readBackup(folder: string, signal: AbortSignal): Promise<Manifest> {
  const path = join(folder, manifestName)
  const { value: header } = await readJsonFile(path, Header, 'is no manifest').catch((error: Error) => {
    throw new CommandError(`${folder} is no complete backup: ${error.message}`)
  })
  const { program } = header
  if (header.format > format || isLater(program.version, version)) {
    const versions = `version ${program.version} (commit ${program.commit}), and this is version ${version}`
    throw new CommandError(`${folder} was written by ${versions}; restore it with that version or a later one.`)
  }
  const manifest = matching(path, Manifest, header, 'is no manifest of this version')
  await checkContents(join(folder, contentsName), manifest, signal)
  return manifest
}

/**
 * Compares names and sizes first, then digests, which takes as long as reading all files.
 * @throws CommandError that names the first file which is not as in the manifest
 */
export async function checkContents(folder: string, { files }: Contents, signal: AbortSignal): Promise<void> {
  const found = new Map((await listContents(folder)).files.map(({ path, bytes }) => [path, bytes]))
  const fail = (path: string, fault: string) => {
    throw new CommandError(`${join(folder, path)} ${fault}; restore another backup.`)
  }
  for (const { path, bytes } of files) {
    const present = found.get(path)
    if (!found.delete(path)) fail(path, 'is missing')
    if (present !== bytes) fail(path, `has ${present} bytes instead of ${bytes}`)
  }
  for (const path of found.keys()) fail(path, `is not in ${manifestName}`)
  for (const { path, sha256 } of files) {
    if ((await digestOf(join(folder, path), signal)) !== sha256) fail(path, 'has changed since the backup')
  }
}

/** @returns all files and folders below a folder, in order of their paths */
export async function readContents(folder: string, signal: AbortSignal): Promise<Contents> {
  const { folders, files } = await listContents(folder)
  const contents: Contents = { folders, files: [] }
  for (const file of files) {
    contents.files.push({ ...file, sha256: await digestOf(join(folder, file.path), signal) })
  }
  return contents
}

async function listContents(folder: string) {
  const folders: string[] = []
  const files: { path: string; bytes: number }[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path)
    if (entry.isDirectory()) folders.push(name)
    else if (entry.isFile()) files.push({ path: name, bytes: (await stat(path)).size })
    else throw new CommandError(`${path} is neither a file nor a folder.`)
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1))
  return { folders: folders.sort(), files }
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(256 * 1024)
  // Most of the thousands of files have a few kB, for which a stream takes several times as long.
  const file = await open(path)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(chunk, 0, chunk.length)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(chunk.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}

/** Flushes all files and folders of a folder to the disk. */
export async function flushContents(folder: string, { folders, files }: Contents): Promise<void> {
  for (const path of ['', ...folders, ...files.map((file) => file.path)]) await flush(join(folder, path))
}

/** Flushes a file, or the names in a folder, to the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path)
  await file.sync().finally(() => file.close())
}
