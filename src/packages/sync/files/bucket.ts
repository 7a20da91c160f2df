import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acquireBucketLock } from './bucketLock.ts'
import { openObjects } from './objects.ts'
import { type Storage, writeFile } from './storage.ts'

/**
 * Opens a prefix of a bucket. Until it is closed, other writers are refused.
 * @throws as `openObjects`; TemporaryError when another writer has the prefix
 */
export async function openBucket(...place: Parameters<typeof openObjects>): Promise<Storage> {
  const objects = await openObjects(...place)
  const lock = await acquireBucketLock(objects)
  return {
    name: objects.name,
    /** One PUT, so that an upload that breaks leaves nothing. */
    async replace(path, content, options) {
      const folder = await mkdtemp(join(tmpdir(), 'tributary-sync-'))
      const file = join(folder, 'file')
      try {
        const sha256 = await writeFile(folder, 'file', content, options)
        if (sha256 === undefined) return undefined
        await lock.assertHeld()
        const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64')
        const { size: ContentLength } = await stat(file)
        return await objects.put(path, { Body: createReadStream(file), ContentLength, ChecksumSHA256 })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    read: async (path) => (await objects.read(path))?.text,
    digestOf: objects.etagOf,
    async remove(path) {
      await lock.assertHeld()
      await objects.remove(path)
    },
    async close() {
      await lock.release()
      objects.close()
    },
  }
}
