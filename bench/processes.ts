import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { callC } from '../src/stores/embedded/cLibrary.ts'

/** A program that a bench started. */
export interface Program {
  /** Its first line of output. */
  line: string
  pid: number
  /**
   * @param signal for a program that does not exit when its standard input closes
   * @returns its exit code
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const running = new Set<Program['stop']>()

/** Stops all running programs, before their folders are removed. */
export async function stopPrograms(): Promise<void> {
  await Promise.all([...running].map((stop) => stop('SIGTERM')))
}

/**
 * Starts a Node program that prints its URL in its first line.
 * @throws Error when it exits before
 */
export async function startProgram(words: string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const child: ChildProcess = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const stop: Program['stop'] = async (signal) => {
    running.delete(stop)
    child.stdin?.end()
    if (signal) child.kill(signal)
    const [code] = await ended
    return code
  }
  running.add(stop)
  const line = await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data').then(([chunk]) => `${chunk}`.trim()),
    ended.then(([code]) => {
      throw new Error(`${words.at(-1)} exited with ${code}`)
    }),
  ])
  return { line, pid: child.pid ?? 0, stop }
}

/** @returns the URL in the first line of a program */
export function urlOf({ line }: Program): string {
  return /http:\/\/[\d.:]+/.exec(line)?.[0] ?? ''
}

/** @returns the process id of the embedded ClickHouse of a folder, which is not a child process; undefined on a server */
export function clickhousePid(dataDir: string): Promise<number | undefined> {
  return enginePid('clickhouse', dataDir)
}

/** The same for any of the engines. */
export async function enginePid(engine: 'clickhouse' | 'postgres', dataDir: string): Promise<number | undefined> {
  for (const name of await readdir('/proc')) {
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(`embedded/${engine}/engine.js`) && command.includes(dataDir)) return Number(name)
  }
  return undefined
}

/** Resets the peak memory that Linux records for a process. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

/** @returns the peak memory of a process since the last reset, MiB */
export async function peakMb(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** @returns the present memory of a process, MiB */
export async function residentMb(pid: number): Promise<number> {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** CPU time of all threads of a process, also of those that have ended, milliseconds. @throws Error when the process has ended */
export function cpuMs(pid: number): number {
  const time = Buffer.alloc(16)
  // The clock of a process has no name; see clock_getcpuclockid(3).
  const { value } = callC('clock_gettime', (~pid << 3) | 2, time)
  // 0 would be this process.
  if (pid === 0 || Number(value) !== 0) throw new Error(`There is no process ${pid}.`)
  return secondsIn(time, 0, 1e9) * 1000
}

/** CPU time of the child processes that have ended, milliseconds. */
export function childrenCpuMs(): number {
  const usage = Buffer.alloc(144)
  callC('getrusage', -1, usage)
  return (secondsIn(usage, 0, 1e6) + secondsIn(usage, 16, 1e6)) * 1000
}

/** @returns a time of two 64-bit numbers: seconds and parts of a second */
function secondsIn(bytes: Buffer, offset: number, parts: number): number {
  return Number(bytes.readBigInt64LE(offset)) + Number(bytes.readBigInt64LE(offset + 8)) / parts
}

/** @returns the number of busy cores during one second in which the bench is idle */
export async function busyCores(): Promise<number> {
  const busyTicks = async () => {
    const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/ +/).slice(1).map(Number)
    return user + nice + system + irq + softirq
  }
  const before = await busyTicks()
  const startedMs = performance.now()
  await sleep(1_000)
  // A tick is a hundredth of a second.
  return ((await busyTicks()) - before) / ((performance.now() - startedMs) / 10)
}
