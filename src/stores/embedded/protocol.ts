import type { Socket } from 'node:net'

/** Incremented when a message changes its meaning: programs of two versions reject each other. */
export const protocolVersion = 2

export const engineNames = ['clickhouse', 'postgres'] as const
export type EngineName = (typeof engineNames)[number]

/** HTTP address and credentials of one start of the embedded ClickHouse; the next start has another socket and passwords. */
export interface EmbeddedClickHouse {
  /** A Unix socket in a private folder of the owner. */
  socketPath: string
  writer: ClickHouseCredentials
  reader: ClickHouseCredentials
}

export type ClickHouseCredentials = { username: string; password: string }

export type EmbeddedPostgres = { path: string }

export type Address = EmbeddedClickHouse | EmbeddedPostgres

export type LogLine = { level: 'info' | 'warn' | 'error'; message: string }

/** Client to supervisor, once, when it connects; it is a client for as long as the connection is open. */
export type Hello = { version: number; wants: EngineName[] }

/** Supervisor to client. `ready` is sent when an engine starts, and again after each restart. */
export type Notice =
  | { kind: 'ready'; engine: EngineName; address: Address }
  | { kind: 'failed'; message: string }
  | { kind: 'log'; line: LogLine }

/** Engine process to supervisor, over Node's IPC channel. When the channel closes because the supervisor died, the engine ends at once. */
export type EngineNotice =
  | { kind: 'ready'; address: Address }
  /** Cannot start; the message is one sentence without its full stop. */
  | { kind: 'failed'; message: string }

export function writeJsonLine(socket: Socket, value: Hello | Notice): void {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`)
}

/** Calls back with every line, which is JSON: only processes of the same user reach the socket. */
export function readJsonLines(socket: Socket, listener: (value: unknown) => void): void {
  let text = ''
  // TRAP: readline also ends a line at U+2028, which JSON may contain, and throws the error of a connection that breaks.
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) listener(JSON.parse(line))
  })
}
