// @module-tag long

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { freePort } from '../kit/serverProcess.ts'
import { createTestEnvironment } from '../kit/stores.ts'
import { Shell } from './shell.ts'
import { blocksOf, formDifferences, inlineCommandsOf } from './shellBlocks.ts'

/**
 * Each command of these pages is pasted here, line by line and in order, or is a step of .ci/run. The first page begins with
 * an empty folder, as a new clone does. Servers that a page starts run until it starts another one.
 */
const pages = ['README.md', 'docs/README.md', 'docs/imports.md', 'docs/development.md', 'CONTRIBUTING.md']

/** Loads of some minutes, which are run by hand on an idle machine, and the steps of a release. */
const runByHand = [
  'npm run bench -- compare',
  'npm run hostile',
  'npm run test:long',
  'npm run test:replicas',
  'TRIBUTARY_TEST_RUNS=50 npm run test:long -- test/properties/reports',
  'npm run faults -- Crashes',
  'npm run faults -- Feeds',
  'npm run faults -- Replicas',
  'npm run faults -- Feeds --seeds 61..120',
  'npm audit',
  'npm version X --no-git-tag-version',
  'npm pack --workspaces --include-workspace-root',
  'npm run faults -- "rename of a click"',
]

/** Commands that run this suite or the other checks, by the line of .ci/run that runs them. */
const runByCi: readonly (readonly [command: RegExp, step: string])[] = [
  // `npm cit` is `npm ci` and `npm test`.
  [/^((CLICKHOUSE|DATABASE)_URL=\S+ )*npm (ci|cit|test)$/, 'npm cit'],
  [/^npx vitest run test\/\S+$/, 'npm cit'],
  [/^npm run build$/, 'npm run --silent build'],
  [/^npm (run test:all( -- -u)?|pack( -w tributary-client)?|install \.\/tributary-X\.tgz)$/, "'all && !long'"],
  [/^npx tributary serve --demo$/, "'all && !long'"],
  [/^npm run check$/, 'npm run check'],
  [/^npx tsc$/, 'npm run check'],
]
const ciItself = '.ci/run'

const helpOfCommand = 'npm run --silent cli -- --help'

const startsServer = /^(\w+=\S+ )*npm (start|run (demo( -- --live)?|dev))$/
/** The demo gets few rows, because filling it would take most of the time of this file. */
const withFewRows = (command: string) => command.replace(/^npm run demo$/, 'npm run demo -- 5000')
const readyMs = 150_000

let environment: Record<string, string>
let remove: () => Promise<void>
let port: number
let server: ChildProcess | undefined
let shell: Shell
/** The key that the pages show as `trb_live_…`: the newest one that was output. */
let key = 'trb_live_none'

beforeAll(async () => {
  const own = await createTestEnvironment()
  remove = own.remove
  port = await freePort()
  const { PATH = '', HOME = '' } = process.env
  const { DATA_DIR = '' } = own.environment
  environment = {
    ...own.environment,
    PATH,
    HOME,
    PORT: `${port}`,
    DATA_DIR: join(DATA_DIR, 'new'),
    // TRAP: npm scripts build the program first. Files that a build writes again are used by other test files at the same time.
    npm_config_ignore_scripts: 'true',
  }
  shell = new Shell(packageRoot, environment)
  // A response of 4xx is a failure too.
  await shell.paste('curl() { command curl --fail-with-body "$@"; }')
})
afterAll(async () => {
  shell?.close()
  if (server?.pid && isGroupAlive(server.pid)) process.kill(-server.pid, 'SIGKILL')
  await remove?.()
})

describe.skipIf(!isInstalled('curl')).each(pages)('%s', (page) => {
  it.each(blocksOf(page))(
    '$source runs unchanged',
    { timeout: readyMs + 60_000 },
    async ({ language, commands, response }) => {
      let output = ''
      if (language === 'js') output = await run(`node --input-type=module << 'END'\n${commands.join('\n')}\nEND`)
      else {
        for (const line of commands) {
          const command = line.replace(/^npm ci && /, '')
          if (isRunByCi(command)) continue
          if (startsServer.test(command)) await startServer(command)
          else output = await run(command)
        }
      }
      if (response !== undefined) expect(formDifferences(response, JSON.parse(output))).toEqual([])
    },
  )

  it('every command within its text is run by a test or by .ci/run', () => {
    const run = pages.flatMap((page) => blocksOf(page)).flatMap(({ commands }) => commands)
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

describe.skipIf(!isInstalled('curl'))('a command within the text', () => {
  it.each(['npm start', 'npm run dev', 'npm run cli -- serve'])(
    '%s starts a server, which ends when npm gets SIGTERM',
    { timeout: readyMs + 60_000 },
    async (command) => {
      await startServer(command)
      await stopServer()
    },
  )

  it(`${helpOfCommand} shows help and nothing else`, { timeout: readyMs }, async () => {
    expect(await run(helpOfCommand)).toMatch(/^Usage: tributary/)
  })
})

function isRunByCi(command: string): boolean {
  if (command === ciItself) return true
  const ci = readFileSync(join(packageRoot, ciItself), 'utf8')
  return runByCi.some(([pattern, step]) => pattern.test(command) && ci.includes(step))
}

async function run(lines: string): Promise<string> {
  const output = await shell.paste(
    lines.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`).replaceAll(/trb_live_(…|\.\.\.)/g, key),
  )
  key = /trb_live_\w{36}/.exec(output)?.[0] ?? key
  return output
}

/** Starts npm with a server in a process group, waits until it responds, and sends the requests that it prints. */
async function startServer(command: string): Promise<void> {
  await stopServer()
  const child = spawn('env', withFewRows(command).split(' '), { cwd: packageRoot, env: environment, detached: true })
  server = child
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const deadline = performance.now() + readyMs
  const isReady = async () => output.includes(`Tributary listens on http://127.0.0.1:${port}`) && (await isReachable())
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${command} did not start:\n${output}`)
    await pause(100)
  }
  key = /trb_live_\w{36}/.exec(output)?.[0] ?? key
  const commands = output.split('\n').filter((line) => /^(curl|DATA_DIR=\S+ node) /.test(line))
  expect(commands.length > 0).toBe(command.includes('demo'))
  for (const line of commands) expect(await run(line)).not.toBe('')
}

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}

/** Ends npm, and waits until its process group has ended: the server and the shell between them. */
async function stopServer(): Promise<void> {
  const { pid, exitCode } = server ?? {}
  if (!server || !pid || exitCode !== null) return
  const exit = once(server, 'exit')
  server.kill('SIGTERM')
  await exit
  await expect.poll(() => isGroupAlive(pid)).toBe(false)
  server = undefined
}

function isGroupAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}
