import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/**
 * Identifies a file by its content, so that a repeated import recognizes its lines. Standard input and pipes get a new
 * identifier each time.
 * @returns 16 hexadecimal characters
 */
export async function fingerprintOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  const canBeReadTwice = file !== '-' && (await stat(file)).isFile()
  if (canBeReadTwice) await pipeline(createReadStream(file), hash)
  else hash.update(randomUUID())
  return hash.digest('hex').slice(0, 16)
}
