import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SyncError } from '../source/errors.ts'
import { type Storage, writeFile } from './storage.ts'

/** Opens a folder, which may be a symbolic link; it is made when a file is written or read. */
export function openFolder(folder: string): Storage {
  const root = resolve(folder)
  return {
    name: root,
    async replace(path, content, options) {
      return await writeFile(await makeFolder(root, dirname(path)), basename(path), content, options)
    },
    async read(path) {
      const file = await fileOf(root, path)
      try {
        if (!(await lstat(file)).isFile()) throw new SyncError(`${file} is a symbolic link or a folder; remove it.`)
        return await readFile(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async digestOf(path) {
      const file = await fileOf(root, path)
      const digest = createHash('sha256')
      try {
        if (!(await lstat(file)).isFile()) return undefined
        await pipeline(createReadStream(file), digest)
      } catch {
        return undefined
      }
      return digest.digest('hex')
    },
    async remove(path) {
      await rm(await fileOf(root, dirname(path)), { recursive: true, force: true })
    },
    async close() {},
  }
}

/** @returns the path of a file or folder, whose folder exists */
const fileOf = async (root: string, path: string) => join(await makeFolder(root, dirname(path)), basename(path))

/**
 * Makes a folder within the root if it does not exist.
 * TRAP: a symbolic link within the folder of a copy would move writes and removals out of it, so no path follows one.
 * @throws SyncError when a part of the path is a symbolic link or a file
 */
async function makeFolder(root: string, path: string): Promise<string> {
  if (path === '.') {
    await mkdir(root, { recursive: true })
    return root
  }
  const folder = await fileOf(root, path)
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  if ((await lstat(folder)).isDirectory()) return folder
  throw new SyncError(`${folder} is a symbolic link or a file, not a folder; remove it.`)
}
