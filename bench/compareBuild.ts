import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../src/package.ts'

const run = promisify(execFile)
const buildTimeoutMs = 10 * 60_000

/** A commit, built in its own folder. */
export interface Build {
  /** Short hash, or `working tree`. */
  name: string
  /** Names its store: another build may have another schema. */
  id: string
  /** Root folder of the package. */
  code: string
  /** Node options of its `npm start`. */
  nodeFlags: string[]
  versions: { node: string; chdb: string }
}

/**
 * Copies a commit from git and builds it, unless the folder contains it.
 * @param commit undefined for the working tree, including uncommitted files
 * @throws Error when the commit does not exist or does not build
 */
export async function buildCommit(commit: string | undefined, folder: string): Promise<Build> {
  await mkdir(folder, { recursive: true })
  const tree = await treeOf(commit, folder)
  const code = join(folder, `code-${tree}`)
  if (!existsSync(code)) {
    const unfinished = `${code}.unfinished`
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished)
    await run('git', ['archive', '--output', `${unfinished}.tar`, tree], { cwd: packageRoot })
    await run('tar', ['-xf', `${unfinished}.tar`, '-C', unfinished])
    await rm(`${unfinished}.tar`)
    // TRAP: links to the packages of this checkout would lead to its client, which has the types of this contract.
    await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: unfinished,
      timeout: buildTimeoutMs,
    })
    await run('npm', ['run', '--silent', 'build'], { cwd: unfinished, timeout: buildTimeoutMs })
    await rename(unfinished, code)
  }
  const name = commit === undefined ? 'working tree' : await git('rev-parse', '--short', commit)
  return { name, id: tree.slice(0, 12), code, nodeFlags: await nodeFlagsOf(code), versions: await versionsOf(code) }
}

async function treeOf(commit: string | undefined, folder: string): Promise<string> {
  if (commit !== undefined) return await git('rev-parse', `${commit}^{tree}`)
  // A separate index, so that nothing is staged in the checkout.
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') }
  await run('git', ['read-tree', 'HEAD'], { cwd: packageRoot, env })
  await run('git', ['add', '--all'], { cwd: packageRoot, env })
  return (await run('git', ['write-tree'], { cwd: packageRoot, env })).stdout.trim()
}

async function nodeFlagsOf(code: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(code, 'package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

async function versionsOf(code: string): Promise<Build['versions']> {
  const chdb = JSON.parse(await readFile(join(code, 'node_modules/chdb/package.json'), 'utf8')) as { version: string }
  return { node: process.version, chdb: chdb.version }
}

async function git(...words: string[]): Promise<string> {
  return (await run('git', words, { cwd: packageRoot })).stdout.trim()
}
