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
  /** @property prepared, closed: name of a prepared statement that the message creates or drops; empty: none */
  | { kind: 'message'; message: Buffer; endsCycle: boolean; prepared: string; closed: string }
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

  #joined(): Buffer {
    const [first] = this.#chunks
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#chunks = [bytes]
    return bytes
  }

  /** Yields the messages that a chunk completes, and nothing after one that is refused. */
  *read(chunk: Buffer): Generator<Incoming> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    for (;;) {
      const lengthAt = this.#started ? 1 : 0
      if (this.#size < Math.max(this.#needed, lengthAt + 4)) return
      const bytes = this.#joined()
      const length = bytes.readUInt32BE(lengthAt)
      if (length < 4 || length > (this.#started ? messageBytesMax : startupBytesMax)) {
        yield { kind: 'refused', code: '08P01', message: `invalid message length ${length}` }
        return
      }
      this.#needed = lengthAt + length
      if (this.#size < this.#needed) return
      const message = bytes.subarray(0, this.#needed)
      const rest = bytes.subarray(this.#needed)
      this.#chunks = rest.length > 0 ? [rest] : []
      this.#size = rest.length
      this.#needed = 0
      const incoming = this.#started ? readMessage(message) : this.#readStartup(message)
      if (incoming) yield incoming
      if (incoming?.kind === 'refused' || incoming?.kind === 'end') return
    }
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
  if (!forwardedTypes.has(type)) {
    return { kind: 'refused', code: '08P01', message: `invalid frontend message type ${message[0]}` }
  }
  return {
    kind: 'message',
    message: isCopyFromClient(message) ? refusedCopy(message) : message,
    endsCycle: type === 'S' || type === 'Q',
    prepared: type === 'P' ? textAt(message, 5) : '',
    closed: type === 'C' && message[5] === 'S'.charCodeAt(0) ? textAt(message, 6) : '',
  }
}

/** The message's letter, e.g. `Q`. */
export const messageType = (message: Buffer): string => String.fromCharCode(message[0] ?? 0)

/** Whether a Query or Parse reads data from the client. That would end the engine, which cannot wait for it. */
function isCopyFromClient(message: Buffer): boolean {
  const type = messageType(message)
  if (type !== 'Q' && type !== 'P') return false
  // The text of a Parse follows its name.
  const text = textAt(message, type === 'Q' ? 5 : message.indexOf(0, 5) + 1)
  const [statement = ''] = text.replace(/^(?:\s|--.*\n)+/, '').split(';', 1)
  return /^copy\b/i.test(statement) && /\bfrom\s+stdin\b/i.test(statement)
}

/** The same message with a statement that raises the error. */
function refusedCopy(message: Buffer): Buffer {
  const text = `DO $$BEGIN RAISE feature_not_supported USING MESSAGE = 'the embedded Postgres has no COPY FROM STDIN'; END$$`
  if (messageType(message) === 'Q') return simpleQuery(text)
  return frame('P', Buffer.from(`${textAt(message, 5)}\0${text}\0\0\0`))
}

function textAt(message: Buffer, start: number): string {
  const end = message.indexOf(0, start)
  return message.toString('utf8', start, end < 0 ? message.length : end)
}

export const sync = frame('S', Buffer.alloc(0))

export const simpleQuery = (text: string): Buffer => frame('Q', Buffer.from(`${text}\0`))

export const closeStatement = (name: string): Buffer => frame('C', Buffer.from(`S${name}\0`))

export function startupMessage(): Buffer {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0client_encoding\0UTF8\0\0')
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + parameters.length)
  head.writeUInt32BE(protocolMajor << 16, 4)
  return Buffer.concat([head, parameters])
}

/** An error after which the connection ends. */
export function fatalError(code: string, message: string): Buffer {
  return frame('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`))
}

function frame(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
