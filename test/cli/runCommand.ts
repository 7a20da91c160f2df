import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import type { ProcessIo } from '../../src/cli/context.ts'
import { runCommand } from '../../src/cli/program.ts'
import { packageRoot } from '../../src/package.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export const commandFile = join(packageRoot, 'dist/src/main.js')

/** Starts the compiled command with only PATH and the given environment. @param program folder of another version */
export function start(
  words: readonly string[],
  environment: Record<string, string>,
  program = packageRoot,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [join(program, 'dist/src/main.js'), ...words], {
    env: { PATH: process.env.PATH, ...environment },
  })
}

/** Starts a server for one test, and waits until it prints its addresses, as JSON. @throws Error with its log when it exits before */
export async function serve(environment: Record<string, string>, ...words: string[]) {
  const child = start(['serve', '--json', ...words], environment)
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = exitOf(child)
  const log = text(child.stderr)
  const failed = exit.then(async () => {
    throw new Error(await log)
  })
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), failed])
  return {
    printed: JSON.parse(line),
    log,
    end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      child.kill(signal)
      return exit
    },
  }
}

export async function runHere(
  words: readonly string[],
  environment: Record<string, string>,
  stdin?: ProcessIo['stdin'],
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = Promise.all([text(stdout), text(stderr)])
  const code = await runCommand(words, { environment, stdout, stderr, ...(stdin && { stdin }) })
  stdout.end()
  stderr.end()
  const [out, err] = await texts
  return { code, stdout: out, stderr: err }
}

/** Runs a subcommand with `--json`, which must succeed and print nothing else. @returns the printed object */
export async function runJson(words: readonly string[], environment: Record<string, string>) {
  const { code, stdout, stderr } = await runHere([...words, '--json'], environment)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

/** Checks that a command failed with one line on standard error and no other output. */
export function expectOneLine({ code, stdout, stderr }: Ended, exitCode: number, line: string | RegExp): void {
  expect([code, stdout]).toEqual([exitCode, ''])
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  expect(stderr).toMatch(line)
}

export async function run(
  words: readonly string[],
  environment: Record<string, string>,
  program = packageRoot,
): Promise<Ended> {
  const child = start(words, environment, program)
  child.stdin.end()
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  return { code, stdout, stderr }
}

export function exitOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}
