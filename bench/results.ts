import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { packageRoot } from '../src/package.ts'

/** Results of a bench: where and how it was measured, and one object per measurement. */
export interface Results<Measurement> {
  context: object
  measurements: Measurement[]
}

/** Writes results as NDJSON: the first line is the context, each further line is one measurement. */
export async function writeResults(file: string, { context, measurements }: Results<object>): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, [context, ...measurements].map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** @returns the measurements of an earlier run; none when there is no file */
export async function readMeasurements<Measurement>(file: string): Promise<Measurement[]> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  return lines.slice(1).map((line) => JSON.parse(line))
}

/** @returns processors and memory of this machine, and what ran on it beside the server */
export function describeMachine(beside: string): string {
  return `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${beside}`
}

/** @returns the time and the commit of a measurement */
export function provenance(): { date: string; commit: string } {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot, encoding: 'utf8' }).trim()
  return { date: new Date().toISOString(), commit }
}
