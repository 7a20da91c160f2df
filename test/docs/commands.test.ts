import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { makeTestPlace } from '../kit/stores.ts'
import { blocksOf, inlineCommandsOf, unlike } from './shellBlocks.ts'

/**
 * Every command of the pages is either run here, against stores of its own, or is a step of .ci/run. Servers that a
 * page starts go on until it starts another; later calls go to them.
 */
const pages = ['README.md', 'CONTRIBUTING.md']

/** Loads of some minutes, which are run by hand on a machine that does nothing else. */
const runByHand = ['npm run hostile', 'npm run faults -- Crashes', 'npm run faults -- "rename of a click"']

/** Commands that run this suite or what stands beside it, by the line of .ci/run that runs them. */
const runByCi: readonly (readonly [command: RegExp, step: string])[] = [
  [/^npm (ci|cit)$/, 'npm cit'],
  [/^npm run check$/, 'npm run check'],
  [/^npx tsc$/, 'npm run check'],
  [/^((CLICKHOUSE|DATABASE)_URL=\S+ )*npm test( -- -u)?$/, 'npm test'],
  [/^npx vitest run test\/\S+$/, 'npm test'],
]
/** Runs all of that. */
const ciItself = '.ci/run'

/** Verbs that explain themselves, besides the servers: tried at the end. */
const helpOfCommand = 'npm run --silent cli -- --help'

const startsServer = /^(\w+=\S+ )*npm (start|run (demo|dev))$/
const readyMs = 150_000

let environment: Record<string, string>
let remove: () => Promise<void>
let port: number
let server: ChildProcess | undefined
/** The key that the pages' `trb_live_…` stands for. */
let key = 'trb_live_none'

beforeAll(async () => {
  const place = await makeTestPlace()
  remove = place.remove
  port = await freePort()
  const { PATH = '', HOME = '' } = process.env
  environment = { ...place.environment, PATH, HOME, PORT: `${port}` }
})
afterAll(async () => {
  await stopServer()
  await remove?.()
})

describe.each(pages)('%s', (page) => {
  it.each(blocksOf(page))('$place works as it stands', { timeout: readyMs + 60_000 }, async ({ commands, answer }) => {
    let output = ''
    for (const line of commands) {
      const command = line.replace(/^npm ci && /, '')
      if (isRunByCi(command)) continue
      if (startsServer.test(command)) await startServer(command)
      else output = await run(command)
    }
    if (answer !== undefined) expect(unlike(answer, JSON.parse(output))).toEqual([])
  })

  it('names no command within its text that nothing runs', () => {
    const run = pages.flatMap(blocksOf).flatMap(({ commands }) => commands)
    for (const command of inlineCommandsOf(page)) {
      const parts = command.split(' && ')
      const isCovered = (part: string) =>
        isRunByCi(part) ||
        runByHand.includes(part) ||
        startsServer.test(part) ||
        part === helpOfCommand ||
        run.some((line) => line.includes(part))
      expect(
        parts.filter((part) => !isCovered(part)),
        command,
      ).toEqual([])
    }
  })
})

describe('a command named within the text', () => {
  it.each(['npm start', 'npm run dev'])('%s comes up', { timeout: readyMs + 60_000 }, startServer)

  it(`${helpOfCommand} explains itself`, { timeout: readyMs }, async () => {
    expect(await run(helpOfCommand)).toContain('Usage: tributary')
  })
})

function isRunByCi(command: string): boolean {
  if (command === ciItself) return true
  const ci = readFileSync(join(packageRoot, ciItself), 'utf8')
  return runByCi.some(([pattern, step]) => pattern.test(command) && ci.includes(step))
}

/** Runs a line as a shell would, in the project's folder. @returns its standard output */
async function run(line: string): Promise<string> {
  const script = line.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`).replaceAll(/trb_live_(…|\.\.\.)/g, key)
  // An answer of 4xx is a failure too.
  const shell = `curl() { command curl --fail-with-body "$@"; }\n${script}`
  const { stdout } = await promisify(execFile)('sh', ['-ec', shell], {
    cwd: packageRoot,
    env: environment,
    maxBuffer: 1 << 26,
  })
  key = /trb_live_\w{36}/.exec(stdout)?.[0] ?? key
  return stdout
}

/** Starts a server in a group of its own, and waits until it answers and has said everything. */
async function startServer(command: string): Promise<void> {
  await stopServer()
  const child = spawn('sh', ['-c', command], { cwd: packageRoot, env: environment, detached: true })
  server = child
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const deadline = performance.now() + readyMs
  const isReady = async () => said.includes(`Tributary listens on http://127.0.0.1:${port}`) && (await answers())
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${command} did not come up:\n${said}`)
    await pause(100)
  }
  key = /trb_live_\w{36}/.exec(said)?.[0] ?? key
  for (const call of said.split('\n').filter((line) => line.startsWith('curl '))) JSON.parse(await run(call))
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}

async function stopServer(): Promise<void> {
  const child = server
  server = undefined
  if (!child?.pid || child.exitCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid, 'SIGTERM')
  await exit
  const deadline = performance.now() + 30_000
  while ((await answers()) && performance.now() < deadline) await pause(100)
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No port')
  return address.port
}
