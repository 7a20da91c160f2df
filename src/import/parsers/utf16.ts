import { TextDecoder } from 'node:util'

/** Encodings by their byte order marks, in hexadecimal. */
const encodings: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' }

/**
 * Yields a text in UTF-8 if it is UTF-16 with a byte order mark, as Excel and ad networks export tables; other bytes as they are.
 * @throws TypeError for bytes that are not UTF-16
 */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined
  let isFirst = true
  for await (const chunk of chunks) {
    const encoding = isFirst ? encodings[chunk.toString('hex', 0, 2)] : undefined
    if (encoding) decoder = new TextDecoder(encoding, { fatal: true })
    isFirst = false
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk
  }
  // Throws if the last character is incomplete.
  decoder?.decode()
}
