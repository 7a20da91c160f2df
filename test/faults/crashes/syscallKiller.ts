import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { commandFile, type Ended } from '../../cli/runCommand.ts'

const program = '/usr/bin/strace'
const detachMaxMs = 2_000

/** System calls by which the engines change files. */
export type FileCall = 'rename' | 'write' | 'pwrite64' | 'fdatasync' | 'fsync' | 'mkdir' | 'unlink' | 'rmdir'

/** An instant in a process: right before one of its threads makes its N-th call of that name. */
export interface Instant {
  call: FileCall
  /** Counted from 1. TRAP: strace counts per thread, from the moment that it is attached. */
  at: number
}

/** A process that will be killed at an instant. */
export interface ArmedKill {
  /** Detaches. @returns the arguments of the call that was not made, such as a path; undefined when the process was not killed */
  disarm(): Promise<string | undefined>
}

/** `8626  rename("/data/tmp_insert_1", …`: the thread, the call, its arguments. */
const callStart = /^(\d+) +(\w+)\(/

/** Whether strace is installed. @throws Error on CI when it is not */
export function hasStrace(): boolean {
  if (existsSync(program)) return true
  const missing = `${program} is missing: install Debian's strace to run these tests.`
  if (process.env.CI) throw new Error(missing)
  console.warn(missing)
  return false
}

/**
 * Makes the kernel kill a process right before a system call, which is not made: the files are then as after a crash at
 * that instant. Resolves when every thread is traced.
 * @throws Error when the process can't be traced
 */
export async function armKill(pid: number, { call, at }: Instant): Promise<ArmedKill> {
  const tracer = await attach(pid, [`trace=${call}`, `inject=${call}:error=EIO:signal=SIGKILL:when=${at}`])
  return {
    async disarm() {
      const lines = await tracer.detach()
      const death = lines.findIndex((line) => line.includes('+++ killed by SIGKILL'))
      const last = lines.slice(0, Math.max(death, 0)).findLast((line) => callStart.test(line))
      return last && argumentsOf(last)
    },
  }
}

/**
 * Runs the command, and makes the kernel kill it right before a system call. One thread makes all calls that change files, so
 * `at` counts all of them.
 * @returns exit code null when the command was killed
 */
export async function runUntilCall(
  words: readonly string[],
  environment: Record<string, string>,
  { call, at }: Instant,
): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-strace-'))
  const injected = `inject=${call}:error=EIO:signal=SIGKILL:when=${at}`
  const child = spawn(
    program,
    ['-f', '-o', join(folder, 'calls'), '-e', `trace=${call}`, '-e', injected, process.execPath, commandFile, ...words],
    { env: { PATH: process.env.PATH, ...environment, UV_THREADPOOL_SIZE: '1' } },
  )
  child.stdin.end()
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  await rm(folder, { recursive: true })
  return { code, stdout, stderr }
}

async function attach(pid: number, expressions: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-strace-'))
  const callsFile = join(folder, 'calls')
  const options = expressions.flatMap((expression) => ['-e', expression])
  const child = spawn(program, ['-f', '-p', `${pid}`, '-o', callsFile, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/ attached/.test(output)) resolve()
    })
    child.once('exit', () => reject(new Error(`strace: ${output.trim()}`)))
  })
  return {
    async detach(): Promise<string[]> {
      child.kill('SIGINT')
      // TRAP: strace hangs when it is interrupted while the threads of a killed process end.
      const killTimer = setTimeout(() => child.kill('SIGKILL'), detachMaxMs)
      await exited
      clearTimeout(killTimer)
      const lines = (await readFile(callsFile, 'utf8')).split('\n')
      await rm(folder, { recursive: true })
      return lines
    },
  }
}

function argumentsOf(line: string): string {
  return line.slice(line.indexOf('(') + 1)
}
