import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** Bytes by which standard input and pipes are recognized, which cannot be read twice. */
export const beginningBytes = 1 << 16

/**
 * Identifies a file by its content, so that a repeated import recognizes its lines; standard input and pipes by their
 * beginning.
 * @param readBeginning reads the first `beginningBytes` of the content, or all of it
 * @returns 16 hexadecimal characters
 */
export async function fingerprintOf(file: string, readBeginning: () => Promise<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  const canBeReadTwice = file !== '-' && (await stat(file)).isFile()
  if (canBeReadTwice) await pipeline(createReadStream(file), hash)
  else hash.update(await readBeginning())
  return hash.digest('hex').slice(0, 16)
}
