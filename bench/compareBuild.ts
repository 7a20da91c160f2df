import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../src/package.ts'

const run = promisify(execFile)
const buildTimeoutMs = 10 * 60_000
const fetchTimeoutMs = 2 * 60_000

/** A built commit. */
export interface Build {
  /** Short hash, or `working tree`. */
  name: string
  /** Whole hash; undefined for the working tree. */
  commit?: string
  /** Names its store: another build may have another schema. */
  id: string
  /** Root folder of the package. */
  code: string
  /** Node options of its `npm start`. */
  nodeFlags: string[]
  versions: { node: string; chdb: string }
}

/** @returns a folder outside the checkout for builds that later runs reuse */
export async function openBuildCache(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tributary')
  try {
    await mkdir(cache, { recursive: true })
    return cache
  } catch {
    return await mkdtemp(join(tmpdir(), 'tributary-builds-'))
  }
}

/**
 * Fetches the commit from `origin` where the clone is shallow.
 * @param commit a whole hash, since servers send no other
 * @returns whether this clone has the commit now
 */
export async function hasCommit(commit: string): Promise<boolean> {
  const isPresent = () =>
    git('cat-file', '-e', `${commit}^{commit}`).then(
      () => true,
      () => false,
    )
  if (await isPresent()) return true
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
  const words = ['fetch', '--quiet', '--no-tags', '--depth=1', 'origin', commit]
  await run('git', words, { cwd: packageRoot, env, timeout: fetchTimeoutMs }).catch(() => {})
  return await isPresent()
}

/**
 * Copies a commit from git and builds it, unless the folder contains it.
 * @throws Error when the commit does not exist or does not build
 */
export async function buildCommit(commit: string, folder: string): Promise<Build> {
  const tree = await git('rev-parse', `${commit}^{tree}`)
  const code = join(folder, `code-${tree}`)
  if (!existsSync(code)) {
    await mkdir(folder, { recursive: true })
    const unfinished = await mkdtemp(`${code}.`)
    try {
      await run('git', ['archive', '--output', `${unfinished}/tree.tar`, tree], { cwd: packageRoot })
      await run('tar', ['-xf', 'tree.tar'], { cwd: unfinished })
      await rm(join(unfinished, 'tree.tar'))
      const runNpm = (...words: string[]) => run('npm', words, { cwd: unfinished, timeout: buildTimeoutMs })
      // TRAP: links to the packages of this checkout would lead to its client, which has the types of this contract.
      await runNpm('ci', '--prefer-offline', '--no-audit', '--no-fund')
      await runNpm('run', '--silent', 'build')
      await runNpm('prune', '--omit=dev', '--no-audit', '--no-fund')
      // Fails when another run has built it in the meantime.
      await rename(unfinished, code).catch((error) => existsSync(code) || Promise.reject(error))
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }
  const hash = await git('rev-parse', `${commit}^{commit}`)
  return { ...(await describeBuild(hash.slice(0, 8), tree, code)), commit: hash }
}

/** Describes this checkout, including uncommitted files; `npm run bench` has built it. @param folder for temporary files */
export async function buildOfCheckout(folder: string): Promise<Build> {
  // A separate index, so that nothing is staged in the checkout.
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') }
  await run('git', ['read-tree', 'HEAD'], { cwd: packageRoot, env })
  await run('git', ['add', '--all'], { cwd: packageRoot, env })
  const { stdout: tree } = await run('git', ['write-tree'], { cwd: packageRoot, env })
  return await describeBuild('working tree', tree.trim(), packageRoot)
}

async function describeBuild(name: string, tree: string, code: string): Promise<Build> {
  const readJson = async (file: string) => JSON.parse(await readFile(join(code, file), 'utf8'))
  const { scripts } = (await readJson('package.json')) as { scripts: { start: string } }
  const chdb = (await readJson('node_modules/chdb/package.json')) as { version: string }
  return {
    name,
    id: tree.slice(0, 12),
    code,
    nodeFlags: scripts.start.split(' ').filter((word) => word.startsWith('--')),
    versions: { node: process.version, chdb: chdb.version },
  }
}

async function git(...words: string[]): Promise<string> {
  return (await run('git', words, { cwd: packageRoot })).stdout.trim()
}
