import { TextDecoder } from 'node:util'
import { FormatError } from './fileFormat.ts'

/** Encodings by their byte order marks, in hexadecimal. */
const encodings: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' }

/**
 * Yields the text of a sheet in UTF-8 with line feeds. Excel and ad networks write UTF-16, often with a byte order mark; Excel for Mac
 * can end lines with carriage returns alone.
 * @throws TypeError for bytes that are not UTF-16; FormatError for a workbook
 */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined
  let hasReturns: boolean | undefined
  for await (const chunk of chunks) {
    const isFirst = hasReturns === undefined
    if (isFirst) {
      if (chunk.toString('latin1', 0, 4) === 'PK\x03\x04')
        throw new FormatError('it is a workbook or .zip file; save the sheet as CSV')
      // No text begins with a character and U+0000.
      const encoding = encodings[chunk.toString('hex', 0, 2)] ?? (chunk[0] && chunk[1] === 0 ? 'utf-16le' : undefined)
      if (encoding) decoder = new TextDecoder(encoding, { fatal: true })
    }
    const text = decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk
    hasReturns ??= text.includes('\r') && !text.includes('\n')
    yield hasReturns ? Buffer.from(text.map((byte) => (byte === 13 ? 10 : byte))) : text
  }
  // Throws if the last character is incomplete.
  decoder?.decode()
}
