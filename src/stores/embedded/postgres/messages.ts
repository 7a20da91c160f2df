import type { Socket } from 'node:net'

// The parts of the protocol, version 3, that are needed: https://www.postgresql.org/docs/18/protocol-message-formats.html
// Only processes of the same user reach the socket, and they use the driver `postgres`. So messages are forwarded unchecked.

export const protocolMajor = 3

/** Yields the messages of a client until its connection ends in any way. The first one has no type. */
export async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let typeBytes = 0
  const sizeOf = (bytes: Buffer) => {
    const headBytes = typeBytes + 4
    return bytes.length < headBytes ? headBytes : typeBytes + bytes.readUInt32BE(typeBytes)
  }
  let chunks: Buffer[] = []
  let missing = 4
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      missing -= chunk.length
      // A large message is joined once.
      if (missing > 0) continue
      let bytes = Buffer.concat(chunks)
      for (let size = sizeOf(bytes); bytes.length >= size; size = sizeOf(bytes)) {
        yield bytes.subarray(0, size)
        typeBytes = 1
        bytes = bytes.subarray(size)
      }
      chunks = [bytes]
      missing = sizeOf(bytes) - bytes.length
    }
  } catch {
    // A connection that breaks ends like one that the client closes.
  }
}

/** The message's letter, e.g. `Q`. */
export const messageType = (message: Buffer): string => String.fromCharCode(message[0] ?? 0)

/** The name of the prepared statement that a Parse creates; empty for an unnamed one. */
export const statementName = (parse: Buffer): string => parse.toString('utf8', 5, parse.indexOf(0, 5))

export const sync = frame('S', '')

export const simpleQuery = (text: string): Buffer => frame('Q', `${text}\0`)

export const closeStatement = (name: string): Buffer => frame('C', `S${name}\0`)

export function startupMessage(): Buffer {
  const parameters = 'user\0postgres\0database\0postgres\0client_encoding\0UTF8\0\0'
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + parameters.length)
  head.writeUInt16BE(protocolMajor, 4)
  return Buffer.concat([head, Buffer.from(parameters)])
}

function frame(type: string, text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
