import type { Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turn } from '../stores/timing/turn.ts'

/**
 * Writes the texts of a body as UTF-8; other requests are handled in between if the body is long.
 * @param hash gets the bytes without `end`
 * @param finish changes the bytes of a text
 */
export async function writeBody(
  texts: Iterable<string>,
  hash?: Hash,
  { end = '', finish = (piece: Buffer) => piece } = {},
): Promise<Buffer> {
  const turn = new Turn()
  const pieces: Buffer[] = []
  for (const text of texts) {
    if (turn.isOver(text.length)) await nextTurn()
    const piece = finish(Buffer.from(text))
    hash?.update(piece)
    pieces.push(piece)
  }
  pieces.push(Buffer.from(end))
  const body = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0))
  let written = 0
  // TRAP: `Buffer.concat` copies megabytes in one turn, in which the kernel maps each page of the new memory.
  for (const piece of pieces) {
    if (turn.isOver(piece.length)) await nextTurn()
    written += piece.copy(body, written)
  }
  // The caller sends the body, which takes as long as the copy.
  if (turn.isOver(body.length)) await nextTurn()
  return body
}
