import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { Redis as Client } from 'ioredis'

/** Where Debian's package puts it. */
const program = '/usr/bin/redis-server'

/** A Redis server of a test's own, without files. */
export interface TestRedis {
  readonly url: string
  /** Stops its process as it is: connections stay open and nothing is answered. */
  pause(): void
  resume(): void
  kill(): void
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
  close(): void
}

/** Whether tests of Redis run here; false where it is not installed. @throws Error on CI, where it must be */
export function hasRedis(): boolean {
  if (existsSync(program)) return true
  const missing = `${program} is not there: install Debian's redis-server to run these tests.`
  if (process.env.CI) throw new Error(missing)
  console.warn(missing)
  return false
}

/** Starts a server on a free port and waits until it answers. */
export async function startRedis(): Promise<TestRedis> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}/0`
  let child = await begin(port, url)
  return {
    url,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: () => void child.kill('SIGKILL'),
    async restart() {
      child = await begin(port, url)
    },
    close: () => void child.kill('SIGKILL'),
  }
}

async function begin(port: number, url: string): Promise<ChildProcess> {
  const words = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp']
  const child = spawn(program, words, { stdio: 'ignore' })
  const client = new Client(url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
  client.on('error', () => {})
  // Waits for as long as the server needs to come up; the time limit of the hook or test bounds it.
  await client.ping()
  client.disconnect()
  return child
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
