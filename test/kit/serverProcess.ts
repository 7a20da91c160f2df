import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../src/package.ts'

/** The server of one test; its process can be ended, killed, suspended and restarted. */
export interface ServerProcess {
  stop(): Promise<void>
  kill(): Promise<void>
  /** Suspends its process: connections stay open without responses. */
  pause(): void
  resume(): void
  /** Starts it again on the same port and files; resolves when it responds. */
  start(): Promise<void>
}

/** The signals to the process of a server, which changes with each start. */
export function signalsTo(present: () => ChildProcess): Pick<ServerProcess, 'stop' | 'kill' | 'pause' | 'resume'> {
  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = present()
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return {
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void present().kill('SIGSTOP'),
    resume: () => void present().kill('SIGCONT'),
  }
}

/**
 * @returns a free port on loopback, below the ports from which the system opens connections: one of those could be taken
 *   before the server of the test listens. TRAP: `fetch` refuses some ports, 10080 is the highest.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/** Starts an instance of the API, and waits until it listens. @param program folder of another version @throws Error when it exits before */
export async function startInstance(
  environment: Record<string, string>,
  program = packageRoot,
): Promise<{ child: ChildProcess; exited: Promise<unknown[]> }> {
  const child = spawn(process.execPath, [join(program, 'dist/src/main.js'), 'serve', '--json'], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data'),
    exited.then(([code]) => {
      throw new Error(`An instance exited with code ${code}.`)
    }),
  ])
  return { child, exited }
}
