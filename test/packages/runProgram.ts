import { vi } from 'vitest'
import type { Ended } from '../cli/runCommand.ts'

// A pipeline leaves its listeners on standard output. A program runs once in a process, but here often, and Node.js would warn.
process.stdout.setMaxListeners(0)

/**
 * Runs the program of a package in this process. TRAP: no two at the same time, since both print to standard output.
 * @param environment also of libraries that read `process.env`
 */
export async function runProgram(
  run: (words: readonly string[], environment: NodeJS.ProcessEnv) => Promise<number>,
  words: readonly string[],
  environment: Record<string, string>,
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += text
      return true
    }),
  )
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  try {
    return { code: await run(words, environment), ...printed }
  } finally {
    vi.unstubAllEnvs()
    for (const spy of spies) spy.mockRestore()
  }
}
