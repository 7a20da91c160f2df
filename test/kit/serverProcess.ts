import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The server of one test; its process can be ended, killed, suspended and restarted. */
export interface ServerProcess {
  /** Stops it gracefully, and waits for its exit. */
  stop(): Promise<void>
  /** Kills it, and waits for its exit. */
  kill(): Promise<void>
  /** Suspends its process: connections stay open without responses. */
  pause(): void
  resume(): void
  /** Starts it again on the same port and files; resolves when it responds. */
  start(): Promise<void>
}

/** @returns a free port on loopback */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
