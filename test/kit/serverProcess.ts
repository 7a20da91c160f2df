import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of a test's own, whose process can be made to fail in every way that processes do. */
export interface ServerProcess {
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>
  /** Ends it where it stands, and waits until it is gone. */
  kill(): Promise<void>
  /** Stops its process as it is: connections stay open and nothing is answered. */
  pause(): void
  resume(): void
  /** Starts it again on the same port and files; resolves when it answers. */
  start(): Promise<void>
}

/** A port of loopback that is free right now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
