// The parts of the protocol, version 3, that are needed: https://www.postgresql.org/docs/18/protocol-message-formats.html

const protocolMajor = 3
const sslRequest = 80877103
const gssEncryptionRequest = 80877104
const cancelRequest = 80877102
const startupBytesMax = 10_000
const messageBytesMax = 64 * 1024 * 1024
/** Query, Parse, Bind, Describe, Execute, Close, Flush, Sync. Anything else could end the shared session. */
const forwardedTypes = new Set('QPBDECHS')
/** CopyData, CopyDone, CopyFail: Postgres ignores them outside of a COPY, and there is none. */
const ignoredTypes = new Set('dcf')

export type Incoming =
  | { kind: 'message'; message: Buffer }
  /** A request for TLS or GSSAPI; the client continues without when it is rejected. */
  | { kind: 'encryption' }
  | { kind: 'startup' }
  /** The client terminates, or requests cancellation, which has no response. */
  | { kind: 'end' }
  | { kind: 'refused'; code: string; message: string }

export class MessageReader {
  #chunks: Buffer[] = []
  #size = 0
  #needed = 0
  #started = false

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  /** @returns undefined until the next message is complete */
  next(): Incoming | undefined {
    for (;;) {
      const lengthAt = this.#started ? 1 : 0
      if (this.#size < Math.max(this.#needed, lengthAt + 4)) return undefined
      const bytes = this.#joined()
      const length = bytes.readUInt32BE(lengthAt)
      if (length < 4 || length > (this.#started ? messageBytesMax : startupBytesMax)) {
        return { kind: 'refused', code: '08P01', message: `invalid message length ${length}` }
      }
      this.#needed = lengthAt + length
      if (this.#size < this.#needed) return undefined
      const message = bytes.subarray(0, this.#needed)
      const rest = bytes.subarray(this.#needed)
      this.#chunks = rest.length > 0 ? [rest] : []
      this.#size = rest.length
      this.#needed = 0
      const incoming = this.#started ? readMessage(message) : this.#readStartup(message)
      if (incoming) return incoming
    }
  }

  #joined(): Buffer {
    const [first] = this.#chunks
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#chunks = [bytes]
    return bytes
  }

  #readStartup(message: Buffer): Incoming {
    const code = message.length >= 8 ? message.readUInt32BE(4) : 0
    if (code === sslRequest || code === gssEncryptionRequest) return { kind: 'encryption' }
    if (code === cancelRequest) return { kind: 'end' }
    if (code >>> 16 !== protocolMajor)
      return { kind: 'refused', code: '0A000', message: 'unsupported frontend protocol' }
    this.#started = true
    return { kind: 'startup' }
  }
}

function readMessage(message: Buffer): Incoming | undefined {
  const type = messageType(message)
  if (type === 'X') return { kind: 'end' }
  if (ignoredTypes.has(type)) return undefined
  if (forwardedTypes.has(type)) return { kind: 'message', message }
  return { kind: 'refused', code: '08P01', message: `invalid frontend message type ${message[0]}` }
}

/** The message's letter, e.g. `Q`. */
export function messageType(message: Buffer): string {
  return String.fromCharCode(message[0] ?? 0)
}

/** The name of the statement that a Parse creates; empty for the unnamed one. */
export function nameOfParsed(message: Buffer): string {
  return textAt(message, 5)
}

/** The name of the prepared statement that a Close drops; empty when it closes a portal. */
export function nameOfClosed(message: Buffer): string {
  return message[5] === 'S'.charCodeAt(0) ? textAt(message, 6) : ''
}

/** Whether a Query or Parse reads data from the client. That would end the engine, which cannot wait for it. */
export function isCopyFromClient(message: Buffer): boolean {
  const text =
    messageType(message) === 'P'
      ? textAt(message, 5 + Buffer.byteLength(nameOfParsed(message)) + 1)
      : textAt(message, 5)
  const [statement = ''] = text.replace(/^(?:\s|--.*\n)+/, '').split(';', 1)
  return /^copy\b/i.test(statement) && /\bfrom\s+stdin\b/i.test(statement)
}

/** The same message with a statement that raises the error. */
export function refusedCopy(message: Buffer): Buffer {
  const text = `DO $$BEGIN RAISE feature_not_supported USING MESSAGE = 'the embedded Postgres has no COPY FROM STDIN'; END$$`
  if (messageType(message) === 'Q') return simpleQuery(text)
  return frame('P', Buffer.from(`${nameOfParsed(message)}\0${text}\0\0\0`))
}

function textAt(message: Buffer, start: number): string {
  const end = message.indexOf(0, start)
  return message.toString('utf8', start, end < 0 ? message.length : end)
}

export const sync = frame('S', Buffer.alloc(0))

export function simpleQuery(text: string): Buffer {
  return frame('Q', Buffer.from(`${text}\0`))
}

export function closeStatement(name: string): Buffer {
  return frame('C', Buffer.from(`S${name}\0`))
}

export function startupMessage(): Buffer {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0client_encoding\0UTF8\0\0')
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + parameters.length)
  head.writeUInt32BE(protocolMajor << 16, 4)
  return Buffer.concat([head, parameters])
}

export function errorResponse(severity: 'ERROR' | 'FATAL', code: string, message: string): Buffer {
  return frame('E', Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${message}\0\0`))
}

function frame(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
