import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** @returns the processes of this machine: from /proc, since a small Linux has no `ps` */
export function listProcesses(): { id: number; parent: number; command: string }[] {
  if (!existsSync('/proc/self')) {
    const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
    return lines.flatMap((line) => {
      const [, id, parent, command = ''] = /^\s*(\d+)\s+(\d+) (.*)$/.exec(line) ?? []
      return id ? [{ id: Number(id), parent: Number(parent), command }] : []
    })
  }
  return readdirSync('/proc').flatMap((id) => {
    if (!/^\d+$/.test(id)) return []
    try {
      const command = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0').join(' ').trimEnd()
      const [, parent] = /^.*\) \w (\d+)/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? []
      return [{ id: Number(id), parent: Number(parent), command }]
    } catch {
      // It has ended.
      return []
    }
  })
}

/** The processes of the embedded engines of a folder, by program: `supervisor`, `clickhouse/engine`, `postgres/engine`. */
export function processesOf(path: string): { id: number; program: string }[] {
  return listProcesses().flatMap(({ id, command }) => {
    const [, program] = /^.* .*\/embedded\/([\w/]+)\.js (?:\S+)$/.exec(command) ?? []
    return program && command.endsWith(` ${path}`) ? [{ id, program }] : []
  })
}

/** @returns the id of the process of an engine or of the supervisor of a folder; undefined when it does not run */
export function processIdOf(path: string, program: string): number | undefined {
  return processesOf(path).find((running) => running.program === program)?.id
}
