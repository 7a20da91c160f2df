import { vi } from 'vitest'
import type { Ended } from '../cli/runCommand.ts'

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
