import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Redis as Client } from 'ioredis'
import { fileOf, isInstalled } from './isInstalled.ts'
import { freePort, type ServerProcess, signalsTo } from './serverProcess.ts'

const program = fileOf('redis-server')

export const hasRedis = () => isInstalled('redis-server')

export type TestRedis = Awaited<ReturnType<typeof startRedis>>

/**
 * Starts a server on a free port. It has no files, and is empty after each start.
 * @throws Error where it is not installed
 */
export async function startRedis(): Promise<ServerProcess & { url: string; close(): void }> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}/0`
  let child = await spawnServer(port, url)

  return {
    url,
    ...signalsTo(() => child),
    async start() {
      child = await spawnServer(port, url)
    },
    close: () => void child.kill('SIGKILL'),
  }
}

async function spawnServer(port: number, url: string): Promise<ChildProcess> {
  const words = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp']
  const child = spawn(program, words, { stdio: 'ignore' })
  await once(child, 'spawn')
  const client = new Client(url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
  client.on('error', () => {})
  // Waits until the server is ready; the timeout of the hook or test limits it.
  await client.ping()
  client.disconnect()
  return child
}
