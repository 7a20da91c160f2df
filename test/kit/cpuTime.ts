import { readdirSync, readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** CPU time of a test file, milliseconds. */
    cpuMs?: number
  }
}

const tickMs = 10

const beforeMs = cpuMs()
// The hooks of a setup file run after the hooks of the test file, which stop its programs.
// biome-ignore lint/correctness/noEmptyPattern: vitest parses the first parameter, which must be a pattern.
afterAll(({}, file) => {
  file.meta.cpuMs = cpuMs() - beforeMs
})

/** @returns CPU time of this process, of the programs that it has waited for, and of its embedded engines */
function cpuMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  // stores.ts puts the folders of the engines there; their commands have the folder.
  const folder = `/stores-${process.pid}-`
  const engines = readdirSync('/proc').filter((id) => /^\d+$/.test(id) && readProc(id, 'cmdline').includes(folder))
  return ['self', ...engines].reduce((sum, id) => sum + ticksOf(id) * tickMs, 0)
}

/** @returns the ticks of a process and of its children that have ended */
function ticksOf(id: string): number {
  // TRAP: the name of the program, in brackets, may have spaces. utime, stime, cutime and cstime are fields 14 to 17.
  const fields = readProc(id, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
}

/** @returns the empty text for a process that has ended */
function readProc(id: string, name: string): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
