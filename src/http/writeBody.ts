import type { Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turn } from '../stores/timing/turn.ts'

/**
 * Writes the texts of a body as UTF-8; other requests are handled in between if the body is long.
 * @param hash gets the bytes without `start` and `end`
 */
export async function writeBody(texts: Iterable<string>, hash?: Hash, { start = '', end = '' } = {}): Promise<Buffer> {
  const turn = new Turn()
  const pieces: Buffer[] = [Buffer.from(start)]
  for (const text of texts) {
    if (turn.isOver(text.length)) await nextTurn()
    const piece = Buffer.from(text)
    hash?.update(piece)
    pieces.push(piece)
  }
  const body = Buffer.concat([...pieces, Buffer.from(end)])
  // The caller sends the body, which takes as long as the copy.
  if (turn.isOver(body.length)) await nextTurn()
  return body
}
