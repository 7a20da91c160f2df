import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { commandFile, type Ended } from '../../cli/runCommand.ts'
import { fileOf, isInstalled } from '../../kit/isInstalled.ts'

const program = fileOf('strace')
const detachMaxMs = 2_000

export type FileCall = 'rename' | 'write' | 'pwrite64' | 'fdatasync' | 'fsync' | 'mkdir' | 'unlink' | 'rmdir'

/** An instant in a process: right before one of its threads makes its N-th call of that name. */
export interface Instant {
  call: FileCall
  /** Counted from 1. TRAP: strace counts per thread, from the moment that it is attached. */
  at: number
}

/** `8626  rename("/data/tmp_insert_1", …`: the thread, the call, its arguments. */
const callStart = /^(\d+) +(\w+)\(/

export const hasStrace = () => isInstalled('strace')

/** Options of strace that write the calls to a file, and kill a process right before one of them. */
const optionsOf = ({ call, at }: Instant, callsFile: string) => {
  const killed = `inject=${call}:error=EIO:signal=SIGKILL:when=${at}`
  return ['-f', '-o', callsFile, '-e', `trace=${call}`, '-e', killed]
}

/**
 * Makes the kernel kill a process right before a system call, which is not made: the files are then as after a crash at
 * that instant. Resolves when every thread is traced.
 * @throws Error when the process can't be traced
 */
export async function armKill(pid: number, instant: Instant) {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-strace-'))
  const callsFile = join(folder, 'calls')
  const child = spawn(program, [...optionsOf(instant, callsFile), '-p', `${pid}`], {
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
    /** Detaches. @returns the arguments of the call that was not made, such as a path; undefined when the process was not killed */
    async disarm(): Promise<string | undefined> {
      child.kill('SIGINT')
      // TRAP: strace hangs when it is interrupted while the threads of a killed process end.
      const killTimer = setTimeout(() => child.kill('SIGKILL'), detachMaxMs)
      await exited
      clearTimeout(killTimer)
      const lines = (await readFile(callsFile, 'utf8')).split('\n')
      await rm(folder, { recursive: true })
      const death = lines.findIndex((line) => line.includes('+++ killed by SIGKILL'))
      const last = lines.slice(0, Math.max(death, 0)).findLast((line) => callStart.test(line))
      return last?.slice(last.indexOf('(') + 1)
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
  instant: Instant,
): Promise<Ended> {
  const child = spawn(program, [...optionsOf(instant, '/dev/null'), process.execPath, commandFile, ...words], {
    env: { PATH: process.env.PATH, ...environment, UV_THREADPOOL_SIZE: '1' },
  })
  child.stdin.end()
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}
