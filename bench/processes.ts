import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** A program that was started for a bench. */
export interface Program {
  /** Its first line of output. */
  line: string
  pid: number
  /**
   * @param signal for a program that does not end with its standard input
   * @returns its exit code
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const running = new Set<Program>()

/** Ends every program that was started and has not been stopped: before what they work on goes. */
export async function stopPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.stop('SIGTERM')))
}

/**
 * Starts a Node program that tells in its first line where it listens.
 * @throws Error when it ends without one
 */
export async function startProgram(words: string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const child: ChildProcess = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const line = await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data').then(([chunk]) => `${chunk}`.trim()),
    ended.then(([code]) => {
      throw new Error(`${words.at(-1)} ended with ${code}`)
    }),
  ])
  const program: Program = {
    line,
    pid: child.pid ?? 0,
    async stop(signal) {
      running.delete(program)
      child.stdin?.end()
      if (signal) child.kill(signal)
      const [code] = await ended
      return code
    },
  }
  running.add(program)
  return program
}

/** @returns the address in a program's first line */
export function urlOf({ line }: Program): string {
  return /http:\/\/[\d.:]+/.exec(line)?.[0] ?? ''
}

/** @returns the process of the embedded ClickHouse of a folder, which is no child of ours; undefined on a server */
export async function clickhousePid(dataDir: string): Promise<number | undefined> {
  for (const name of await readdir('/proc')) {
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (command.includes('embedded/clickhouse/engine.js') && command.includes(dataDir)) return Number(name)
  }
  return undefined
}

/** Linux keeps the peak of a process' memory, and forgets it when asked to. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

/** @returns the most memory that a process held since its peak was reset, MiB */
export async function peakMb(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** User and system time of a process in milliseconds. Linux counts it in hundredths of a second. */
export async function cpuMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** @returns how many cores were busy during a second in which this bench does nothing */
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
