import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/**
 * Tells a file by its content, so that lines of it are known again when an import is run again.
 * Standard input, or a pipe, is another file each time.
 * @returns 16 hexadecimal characters
 */
export async function fingerprintOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  const canBeReadTwice = file !== '-' && (await stat(file)).isFile()
  if (canBeReadTwice) await pipeline(createReadStream(file), hash)
  else hash.update(randomUUID())
  return hash.digest('hex').slice(0, 16)
}
