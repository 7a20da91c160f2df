import { execFileSync } from 'node:child_process'

/** The processes of the embedded engines of a folder, by program: `supervisor`, `clickhouse/engine`, `postgres/engine`. */
export function processesOf(path: string): { id: number; program: string }[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, id, program] = /^\s*(\d+) .*\/embedded\/([\w/]+)\.js (?:\S+)$/.exec(line) ?? []
    return id && program && line.endsWith(` ${path}`) ? [{ id: Number(id), program }] : []
  })
}

/** @returns the id of the process of an engine or of the supervisor of a folder; undefined when it does not run */
export function processIdOf(path: string, program: string): number | undefined {
  return processesOf(path).find((running) => running.program === program)?.id
}
