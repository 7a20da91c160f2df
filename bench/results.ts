import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { packageRoot } from '../src/package.ts'

/** @returns the file of results that documents show */
export function resultsFile(name: string): string {
  return join(packageRoot, 'bench/results', `${name}.ndjson`)
}

/**
 * Writes results as NDJSON: the first line has the time, the commit, the machine and the context, each further line is one measurement.
 * @param beside what runs on the machine beside the measured process
 */
export async function writeResults(
  file: string,
  { beside, ...context }: { beside: string } & Record<string, unknown>,
  measurements: readonly object[],
): Promise<void> {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot, encoding: 'utf8' }).trim()
  const first = { date: new Date().toISOString(), commit, machine: describeMachine(beside), ...context }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, [first, ...measurements].map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** @returns processors and memory of this machine, and what ran on it beside the server */
export function describeMachine(beside: string): string {
  return `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${beside}`
}
