import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { makeTestPlace } from '../kit/stores.ts'

let environment: Record<string, string>
let remove: () => Promise<void>
const started: ChildProcess[] = []

beforeAll(async () => {
  const place = await makeTestPlace()
  remove = place.remove
  const { PATH = '', HOME = '' } = process.env
  environment = { ...place.environment, PATH, HOME, PORT: '0', LOG_LEVEL: 'info' }
})
afterAll(async () => {
  for (const { pid } of started) if (isGroupAlive(pid)) process.kill(-(pid as number), 'SIGKILL')
  await remove?.()
})

/** Whether any process of the group that this process leads is left. */
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
  // Without scripts there is no build before it: what runs is what the suite was built from.
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
