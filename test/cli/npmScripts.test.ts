// @module-tag long

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { createTestEnvironment } from '../kit/stores.ts'

let environment: Record<string, string>
let remove: () => Promise<void>
const started: ChildProcess[] = []

beforeAll(async () => {
  const own = await createTestEnvironment()
  remove = own.remove
  const { PATH = '', HOME = '' } = process.env
  environment = { ...own.environment, PATH, HOME, PORT: '0', LOG_LEVEL: 'info' }
})
afterAll(async () => {
  for (const { pid } of started) if (isGroupAlive(pid)) process.kill(-(pid as number), 'SIGKILL')
  await remove?.()
})

/** Whether a process of the process group of `pid` exists. */
function isGroupAlive(pid: number | undefined): boolean {
  return pid !== undefined && canSignal(-pid)
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it.each([
  ['start', []],
  ['demo', []],
  ['cli', ['--', 'serve']],
  ['dev', []],
])('npm run %s ends with its server when npm gets SIGTERM', { timeout: 120_000 }, async (script, words) => {
  // --ignore-scripts skips the build: the suite has built the program.
  const npm = spawn('npm', ['run', '--ignore-scripts', script, ...words], {
    cwd: packageRoot,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  started.push(npm)
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => (output += chunk))
  await expect.poll(() => output, { timeout: 60_000 }).toMatch(script === 'demo' ? /\{.*"level"/ : /listening on http/)
  const exit = once(npm, 'exit')
  npm.kill('SIGTERM')
  await exit
  await expect.poll(() => isGroupAlive(npm.pid)).toBe(false)
})

it('npm run --silent cli prints only the output of the subcommand', async () => {
  const words = ['run', '--silent', 'cli', '--', 'plan', 'list', '--json']
  const { stdout } = await promisify(execFile)('npm', words, { cwd: packageRoot, env: environment })
  expect(JSON.parse(stdout)).toHaveProperty('plans')
})
