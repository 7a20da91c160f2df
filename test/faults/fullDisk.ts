import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Fills the file system of a folder to the last byte. @returns a function that frees the space */
export async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const filler = join(folder, 'filler')
  const { bavail, bsize } = await statfs(folder)
  // TRAP: a sparse file would take no space, so the bytes are not zero.
  await writeFile(filler, Buffer.alloc(bavail * bsize, 1)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error
  })
  return () => rm(filler)
}
