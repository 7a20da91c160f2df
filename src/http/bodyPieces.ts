import type { Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turn } from '../stores/timing/turn.ts'

/**
 * Writes the texts of a body as UTF-8; other requests are handled in between if the body is long.
 * @param hash gets the bytes
 */
export async function writePieces(texts: Iterable<string>, hash?: Hash): Promise<Buffer[]> {
  const turn = new Turn()
  const pieces: Buffer[] = []
  for (const text of texts) {
    if (turn.isOver(text.length)) await nextTurn()
    const piece = Buffer.from(text)
    hash?.update(piece)
    pieces.push(piece)
  }
  return pieces
}
