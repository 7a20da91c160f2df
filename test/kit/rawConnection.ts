import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { App } from '../../src/http/context.ts'

export type RawConnection = Awaited<ReturnType<typeof openRaw>>

/**
 * Connects to a server that listens on 127.0.0.1, and writes `bytes`.
 * @returns the socket, all received bytes as text, and whether the server has closed the connection
 */
export async function openRaw(app: App, bytes: string) {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.once('close', () => {
    isClosed = true
  })
  await once(socket, 'connect')
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.write(bytes)
  return { socket, received: () => received, isClosed: () => isClosed }
}

/** Sends bytes to a server that listens on 127.0.0.1. @returns everything received until the server closes the connection */
export async function sendRaw(app: App, bytes: string): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(bytes)
  return await text(socket)
}

export function rawGet(path: string, key?: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${key === undefined ? '' : `Authorization: ApiKey ${key}\r\n`}\r\n`
}
