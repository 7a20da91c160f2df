import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openObjects } from './objects.ts'
import { type Storage, writeFile } from './storage.ts'

/**
 * Opens a prefix of a bucket. Several writers may use it: a file is replaced only by rows that were read after it.
 * @throws as `openObjects`
 */
export async function openBucket(...place: Parameters<typeof openObjects>): Promise<Storage> {
  const objects = await openObjects(...place)
  return {
    name: objects.name,
    /** One PUT, so that an upload that breaks leaves nothing. */
    async replace(path, open, options) {
      const replaced = await objects.etagOf(path)
      const folder = await mkdtemp(join(tmpdir(), 'tributary-sync-'))
      const file = join(folder, 'file')
      try {
        const sha256 = await writeFile(folder, 'file', open, options)
        if (sha256 === undefined) return undefined
        const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64')
        const { size: ContentLength } = await stat(file)
        const condition = replaced === undefined ? { IfNoneMatch: '*' } : { IfMatch: replaced }
        return await objects.put(path, { Body: createReadStream(file), ContentLength, ChecksumSHA256, ...condition })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    read: objects.read,
    digestOf: objects.etagOf,
    remove: async (path) => void (await objects.remove(path)),
    close: async () => objects.close(),
  }
}
