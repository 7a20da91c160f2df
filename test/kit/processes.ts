import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The processes of the embedded engines of a folder, by program: `supervisor`, `clickhouse/engine`, `postgres/engine`. */
export function processesOf(path: string): { id: number; program: string }[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, id, program] = /^\s*(\d+) .*\/embedded\/([\w/]+)\.js (?:\S+)$/.exec(line) ?? []
    return id && program && line.endsWith(` ${path}`) ? [{ id: Number(id), program }] : []
  })
}

/**
 * Suspends or kills a process. On Linux it waits until none of its threads runs: a signal takes effect after it was sent, and until
 * then a thread may change files.
 */
export async function haltProcess(id: number, signal: 'SIGSTOP' | 'SIGKILL'): Promise<void> {
  process.kill(id, signal)
  while (statesOfThreads(id).some((state) => !'TtZX'.includes(state))) await sleep(5)
}

/** `T` stopped, `t` traced, `Z` zombie, `X` dead; none after the process has ended. */
function statesOfThreads(id: number): string[] {
  const folder = `/proc/${id}/task`
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((thread) => {
    try {
      return readFileSync(`${folder}/${thread}/stat`, 'utf8').replace(/^.*\) /s, '')[0] ?? []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}
